import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { csvOf } from '../../src/rest-compat/csv.ts';
import { type SharedApp, sharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

type Row = Record<string, string | number | null>;
interface Table {
  historySinceUtc?: string | null;
  results: Row[];
}

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function table(path: string): Promise<Table> {
  const { status, body, headers } = await app.request<Table>('GET', path);
  expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/json; charset=utf-8']);
  return body;
}

async function csv(path: string, accept?: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${app.token}`, ...(accept !== undefined && { accept }) };
  const response = await fetch(`${app.url}${path}`, { headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(response.headers.get('vary')).toMatch(/\bAccept\b(?!-)/);
  const text = await response.text();
  expect(text.endsWith('\r\n')).toBe(true);
  return text.trimEnd().split('\r\n');
}

async function violations(path: string): Promise<string[]> {
  const { status, body } = await app.request<{ errors: { field: string; message: string }[] }>('GET', path);
  expect([path, status]).toEqual([path, 400]);
  return body.errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('GET /v1/stats', () => {
  it('counts by the groups of the graph, with the filters of /v1/issues', async () => {
    const { results } = await table(
      '/v1/stats?group_by=team&group_by=status_category&status_category=active&first=3',
    );
    const query =
      '{ issueStats(groupBy: [TEAM, STATUS_CATEGORY], first: 3, filter: { status: { category: { in: [ACTIVE] } } }) { team { code } count estimateSum } }';
    const { body } = await app.graphql<{ issueStats: { team: { code: string } }[] }>(query);
    const expected = body.data?.issueStats.map(({ team, ...counts }) => ({ ...counts, teamCode: team.code }));
    expect(results).toMatchObject(expected ?? []);
    expect(results[0]).toMatchObject({ statusCategory: 'active', projectKey: null });
  });

  it('gives one total without groups', async () => {
    const { results } = await table('/v1/stats');
    const { body } = await app.graphql<{ issues: { totalCount: number } }>('{ issues { totalCount } }');
    expect(results).toMatchObject([{ count: body.data?.issues.totalCount, teamCode: null }]);
  });

  it('reports violations under the names of its parameters', async () => {
    const four = ['team', 'label', 'status', 'priority'].map((column) => `group_by=${column}`).join('&');
    expect(await violations(`/v1/stats?${four}`)).toEqual(['group_by: must be sent at most 3 times']);
    expect(await violations('/v1/stats?team_code=NONE')).toEqual([
      'team_code: names no team of the workspace',
    ]);
    expect(await violations('/v1/stats?format=xml')).toEqual([
      expect.stringMatching(/^format: must be one of json, csv/),
    ]);
  });
});

describe('GET /v1/stats/trend', () => {
  it('answers for the last 90 days by week by default', async () => {
    const { historySinceUtc, results } = await table('/v1/stats/trend');
    expect(historySinceUtc).toBeNull();
    expect(results.length === 13 || results.length === 14).toBe(true);
    const [first] = results;
    expect(new Date(`${first?.startsOn}T00:00:00Z`).getUTCDay()).toBe(1);
    const closed = results.reduce((sum, row) => sum + Number(row.closed), 0);
    expect(closed).toBeGreaterThan(20);
  });

  it('answers the same as the graph', async () => {
    const [from, to] = [day(-70), day(-10)];
    const { results } = await table(
      `/v1/stats/trend?every=month&from=${from}&to=${to}&time_zone=Asia/Tokyo&group_by=team&first=2`,
    );
    const query = `{ issueTrend(every: MONTH, from: "${from}", to: "${to}", timeZone: "Asia/Tokyo", groupBy: [TEAM], first: 2) {
      periods { startsOn endsOn team { code } created started closed leadTime { median p85 p95 } cycleTime { median } } } }`;
    const { body } = await app.graphql<{
      issueTrend: {
        periods: (Row & { team: { code: string }; leadTime: Row; cycleTime: Row })[];
      };
    }>(query);
    const expected = body.data?.issueTrend.periods.map(({ team, leadTime, cycleTime, ...row }) => ({
      ...row,
      teamCode: team.code,
      leadTimeMedian: leadTime.median,
      leadTimeP85: leadTime.p85,
      leadTimeP95: leadTime.p95,
      cycleTimeMedian: cycleTime.median,
    }));
    expect(results.length).toBeGreaterThan(3);
    expect(results).toMatchObject(expected ?? []);
  });

  it.each(['trend', 'flow'])('of %s ends with its first day if that is in the future', async (kind) => {
    const from = day(3);
    const { results } = await table(`/v1/stats/${kind}?every=day&from=${from}`);
    expect(results).toEqual((await table(`/v1/stats/${kind}?every=day&from=${from}&to=${from}`)).results);
  });

  it('reports violations under the names of its parameters', async () => {
    expect(await violations('/v1/stats/trend?time_zone=Moon&from=2026-01-02&to=2026-01-01')).toEqual([
      'time_zone: must be the name of an IANA time zone, such as Europe/Berlin',
      'to: must not be before from',
    ]);
    expect(await violations('/v1/stats/flow?team_code=nope')).toEqual([
      'team_code: names no team of the workspace',
    ]);
    expect(await violations('/v1/stats/flow?every=day&from=2020-01-01&to=2026-01-01')).toEqual([
      'to: makes 2,193 periods; at most 400 are counted at once: ask for fewer days, or for longer periods',
    ]);
  });
});

it.each(['/v1/stats', '/v1/stats/trend', '/v1/stats/flow'])(
  '%s needs the scope issues:read',
  async (path) => {
    expect((await app.request('GET', path, { token: null })).status).toBe(401);
    const token = await app.tokenFor({ scopes: ['teams:read', 'projects:read', 'members:read'] });
    expect((await app.request('GET', path, { token })).status).toBe(403);
    const reader = await app.tokenFor({ scopes: ['issues:read'] });
    expect((await app.request('GET', `${path}?group_by=project`, { token: reader })).status).toBe(200);
  },
);

it('/v1/stats/flow counts the issues of a team, and those of all teams are the sum', async () => {
  const path = `/v1/stats/flow?every=month&from=${day(-200)}&to=${day(0)}`;
  const { teams } = (
    await app.graphql<{ teams: { nodes: { code: string }[] } }>('{ teams { nodes { code } } }')
  ).body.data ?? { teams: { nodes: [] } };
  const numbers = ({ backlog, open, active, completed, canceled }: Record<string, unknown>) =>
    [backlog, open, active, completed, canceled].map(Number);
  const totals = (await table(path)).results.map(numbers);
  let sums = totals.map((row) => row.map(() => 0));
  for (const { code } of teams.nodes) {
    const ofTeam = (await table(`${path}&team_code=${code.toLowerCase()}`)).results.map(numbers);
    sums = sums.map((row, index) => row.map((sum, column) => sum + (ofTeam[index]?.[column] ?? 0)));
  }
  expect(sums).toEqual(totals);
});

describe('CSV', () => {
  const path = `/v1/stats/flow?from=${day(-20)}&to=${day(0)}`;

  it('has the rows of the JSON below a header line', async () => {
    const { results } = await table(path);
    const [first = {}] = results;
    const expected = [Object.keys(first), ...results.map((row) => Object.values(row))];
    expect(await csv(`${path}&format=csv`)).toEqual(expected.map((values) => values.join(',')));
  });

  it.each([
    'text/csv',
    'text/csv; charset=utf-8',
    'text/csv;charset="UTF-8";q=0.9, application/json;q=0.5',
    'text/csv, application/json;q=0.5',
    'application/json;q=0.1, text/*',
    '*/*, text/csv',
  ])('is answered to %s', async (accept) => {
    expect(await csv(path, accept)).toEqual(await csv(`${path}&format=csv`));
  });

  it.each([
    undefined,
    '*/*',
    'application/json',
    'application/json, text/csv',
    'text/csv;charset=latin1',
    'text/html',
  ])('is not answered to %s', async (accept) => {
    const headers = { authorization: `Bearer ${app.token}`, ...(accept !== undefined && { accept }) };
    for (const target of [path, '/v1/teams']) {
      const response = await fetch(`${app.url}${target}`, { headers });
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  it('is decided by the parameter if Accept contradicts it', async () => {
    const headers = { authorization: `Bearer ${app.token}`, accept: 'text/csv' };
    const response = await fetch(`${app.url}${path}&format=json`, { headers });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('quotes values that need it, and lets a spreadsheet run no formula', () => {
    const texts = [
      'plain',
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\tx',
      '\rx',
      'a,b',
      'say "hi"',
      'two\nlines',
      '',
    ];
    const rows = texts.map((text, count) => ({ text, count }));
    expect(csvOf({ columns: ['text', 'count'], rows })).toBe(
      [
        'text,count',
        'plain,0',
        "'=1+1,1",
        "'+1,2",
        "'-1,3",
        "'@SUM(A1),4",
        "'\tx,5",
        `"'\rx",6`,
        '"a,b",7',
        '"say ""hi""",8',
        '"two\nlines",9',
        ',10',
        '',
      ].join('\r\n'),
    );
  });

  it('has its own ETag', async () => {
    const headers = { authorization: `Bearer ${app.token}`, accept: 'text/csv' };
    const first = await fetch(`${app.url}${path}`, { headers });
    const tag = first.headers.get('etag') ?? '';
    const again = await fetch(`${app.url}${path}`, { headers: { ...headers, 'if-none-match': tag } });
    expect(again.status).toBe(304);
    const json = await fetch(`${app.url}${path}&format=json`, {
      headers: { ...headers, 'if-none-match': tag },
    });
    expect(json.status).toBe(200);
  });
});
