import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { teamState } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { type App, startApp } from '../support/app.ts';
import { team as fixtureTeam } from '../support/fixtures.ts';
import { expectFields, pagination, problem, team as teamTable, teamDetail } from './fields.ts';
import { type SeededTeam, seedTeams } from './team-seeds.ts';
import { type ListBody, walk } from './walk.ts';

let app: App;
let teams: SeededTeam[];
let lena: string;
let otto: string;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  ({ teams, lena, otto } = await seedTeams(app));
});
afterAll(() => app.stop());

interface Teams {
  teams: { nodes: { code: string }[]; pageInfo: { endCursor: string } };
}
const teamsBy = (states: string) =>
  `query ($after: String) { teams(first: 1, after: $after, filter: { state: { ${states} } }) { nodes { code } pageInfo { endCursor } } }`;

const list = (query: string) => app.request<ListBody>('GET', `/v1/teams${query}`);
const codesOf = ({ body }: { body: ListBody }) => body.results.map(({ code }) => code);

describe('GET /v1/teams', () => {
  it('answers with the fields of the specification, in its order', async () => {
    const { status, headers, body } = await list('');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys(body)).toEqual(['results', 'pagination']);
    for (const result of body.results) expectFields(result, teamTable);
    expectFields(body.pagination, pagination);
  });

  it('shows the values of the rows, and empty strings for absent values', async () => {
    const { body } = await list('');
    for (const seeded of teams) {
      const shown = body.results.find(({ code }) => code === seeded.code);
      expect(shown).toMatchObject({ ...seeded, description: '', iconCss: '', color: '' });
    }
    expect(body.results.find(({ code }) => code === 'ENG')).toMatchObject({
      leadUserAccountId: lena,
      leadDisplayName: 'Lena',
      leadAvatarUrl: 'https://example.com/lena.png',
    });
    expect(body.results.find(({ code }) => code === 'OPS')).toMatchObject({
      leadDisplayName: 'Otto',
      leadAvatarUrl: '',
    });
    expect(body.results.find(({ code }) => code === 'ARC')).toMatchObject({
      leadUserAccountId: '',
      leadDisplayName: '',
    });
  });

  it('sorts by name, a hundred to a page, by default', async () => {
    const answer = await list('');
    expect(codesOf(answer)).toEqual(['ARC', 'DES', 'ENG', 'OPS', 'ZED']);
    expect(answer.body.pagination).toEqual({
      pageSize: 100,
      cursor: '',
      nextCursor: '',
      hasMore: false,
      returnedCount: 5,
      totalCount: 5,
    });
  });

  it('takes the same statements for one team as for five: token, page, count, leads', async () => {
    const five = await list('');
    const one = await list('?page_size=1&query=eng');
    expect(five.statements).toBeLessThanOrEqual(4);
    expect(one.statements).toBe(five.statements);
  });

  it.each([
    ['state=active', ['DES', 'ENG']],
    ['state=inactive&state=archived', ['ARC', 'OPS', 'ZED']],
    ['deliveries_enabled=true', ['ENG', 'OPS']],
    ['deliveries_enabled=false', ['ARC', 'DES', 'ZED']],
    ['query=DESIGN', ['DES']],
    ['query=OPS', ['OPS']],
    ['query=ope', ['OPS']],
    ['query=product-', ['DES']],
    ['query=100%25', ['ZED']],
    ['query=%25', ['ZED']],
    ['query=_', ['ZED']],
    ['query=', ['ARC', 'DES', 'ENG', 'OPS', 'ZED']],
    ['query=nothing+like+it', []],
    ['state=active&deliveries_enabled=true&query=en', ['ENG']],
    ['unknown=1&page_siez=0', ['ARC', 'DES', 'ENG', 'OPS', 'ZED']],
  ])('%s lets through %j', async (query, codes) => {
    const answer = await list(`?${query}`);
    expect(codesOf(answer)).toEqual(codes);
    expect(answer.body.pagination).toMatchObject({ returnedCount: codes.length, totalCount: codes.length });
  });

  it('accepts a cursor when the same values of a filter come in another order or repeated', async () => {
    const first = await list('?state=active&state=archived&page_size=2');
    expect(codesOf(first)).toEqual(['ARC', 'DES']);
    const cursor = first.body.pagination.nextCursor;
    for (const states of ['archived,active', 'active,archived,active']) {
      const query = states.replaceAll(/(\w+),?/g, 'state=$1&');
      expect(codesOf(await list(`?${query}cursor=${cursor}`))).toEqual(['ENG', 'ZED']);
    }
    expect((await list(`?state=active&cursor=${cursor}`)).status).toBe(400);
    const read = (by: string, after: string) => app.graphql<Teams>(teamsBy(by), { after });
    for (const [one, other] of [
      ['in: [ACTIVE, ARCHIVED]', 'in: [ARCHIVED, ACTIVE, ARCHIVED]'],
      ['nin: [INACTIVE, ARCHIVED]', 'nin: [ARCHIVED, INACTIVE]'],
    ] as const) {
      const { endCursor } = (await read(one, '')).body.data?.teams.pageInfo ?? {};
      const { errors, data } = (await read(other, endCursor ?? '')).body;
      expect([errors, data?.teams.nodes.length]).toEqual([undefined, 1]);
    }
  });

  it('takes several leads, joined by OR; an account that leads nothing gives an empty list', async () => {
    expect(codesOf(await list(`?lead_user_account_id=${lena}`))).toEqual(['DES', 'ENG']);
    expect(codesOf(await list(`?lead_user_account_id=${otto}&lead_user_account_id=${lena}`))).toEqual([
      'DES',
      'ENG',
      'OPS',
    ]);
    expect(codesOf(await list('?lead_user_account_id=user_01h455vb4pex5vsknk084sn02q'))).toEqual([]);
  });

  const sorts: Readonly<Record<string, (team: SeededTeam) => string | number>> = {
    name: ({ name }) => fold(name),
    code: ({ code }) => code,
    member_count: ({ memberCount }) => memberCount,
    active_project_count: ({ activeProjectCount }) => activeProjectCount,
    state: ({ state }) => teamState[state],
  };
  const directions = ['asc', 'ascending', 'desc', 'descending'];

  it.each(Object.keys(sorts).flatMap((sort) => directions.map((direction) => [sort, direction] as const)))(
    'walks by %s %s in pages of two, every team once, ties by id',
    async (sort, direction) => {
      const keyOf = sorts[sort] ?? (() => 0);
      const order = (a: SeededTeam, b: SeededTeam) => compare(keyOf(a), keyOf(b)) || compare(a.id, b.id);
      const sorted = teams.toSorted((a, b) => (direction.startsWith('asc') ? order(a, b) : order(b, a)));
      const pages = await walk(app, `/v1/teams?sort=${sort}&direction=${direction}&page_size=2`);
      expect(pages.flatMap(codesOf)).toEqual(sorted.map(({ code }) => code));
      expect(pages.map(({ body }) => body.pagination)).toEqual(
        [2, 2, 1].map((returnedCount, index) => ({
          pageSize: 2,
          cursor: pages[index - 1]?.body.pagination.nextCursor ?? '',
          nextCursor: index < 2 ? expect.stringMatching(/.+/) : '',
          hasMore: index < 2,
          returnedCount,
          totalCount: 5,
        })),
      );
    },
  );

  it('takes a direction without a sort', async () => {
    expect(codesOf(await list('?direction=desc'))).toEqual(['ZED', 'OPS', 'ENG', 'DES', 'ARC']);
  });

  it.each([
    ['state', 'state=open'],
    ['state', 'state=ACTIVE'],
    ['state', 'state='],
    ['state', 'state=active&state=no'],
    ['lead_user_account_id', 'lead_user_account_id=lena'],
    ['lead_user_account_id', 'lead_user_account_id=team_01h455vb4pex5vsknk084sn02q'],
    ['deliveries_enabled', 'deliveries_enabled=yes'],
    ['deliveries_enabled', 'deliveries_enabled=true&deliveries_enabled=true'],
    ['query', 'query=a%00'],
    ['query', 'query=a&query=b'],
    ['sort', 'sort=slug'],
    ['sort', 'sort='],
    ['sort', 'sort=constructor'],
    ['direction', 'direction=up'],
    ...['0', '251', '-1', '1.5', '2e1', '', 'x', '+2', '02', '99999999999999'].map((size) => [
      'page_size',
      `page_size=${size}`,
    ]),
    ['page_size', 'page_size=2&page_size=2'],
    ['cursor', 'cursor=garbage'],
    ['cursor', 'cursor=%00'],
  ])('refuses a bad %s: %s', async (field, query) => {
    const { status, headers, body } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expectFields(body, problem);
    expect(body).toMatchObject({ code: 'invalid_request', status: 400, errors: [{ field }] });
  });

  it('reports all violations at once, under the names of the parameters', async () => {
    const { body } = await list('?state=x&deliveries_enabled=x&sort=x&direction=x&page_size=x&query=%00');
    const { errors } = body as unknown as { errors: { field: string }[] };
    expect(errors.map(({ field }) => field)).toEqual([
      'state',
      'deliveries_enabled',
      'query',
      'page_size',
      'sort',
      'direction',
    ]);
  });

  it('says which kind of id was meant', async () => {
    const answer = await list('?lead_user_account_id=team_01h455vb4pex5vsknk084sn02q');
    expect(answer.body).toMatchObject({ errors: [{ message: 'expected a user id, got a team id' }] });
  });

  it('refuses a cursor of another sort, direction or filter, and accepts its own over both APIs', async () => {
    const first = await list('?page_size=2&state=archived&state=active');
    const { nextCursor } = first.body.pagination;
    for (const other of [
      'state=active',
      'state=archived&state=active&sort=code',
      'state=archived&state=active&direction=desc',
    ]) {
      expect(await list(`?${other}&cursor=${nextCursor}`)).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'cursor' }] },
      });
    }
    const query = `query ($after: String) {
      teams(first: 5, after: $after, filter: { state: { in: [ARCHIVED, ACTIVE] } }, orderBy: { field: NAME }) { nodes { code } }
    }`;
    const graph = await app.graphql<{ teams: { nodes: { code: string }[] } }>(query, { after: nextCursor });
    expect(graph.body.data?.teams.nodes).toEqual([{ code: 'ENG' }, { code: 'ZED' }]);
  });

  it('takes 250 values of one parameter and refuses more', async () => {
    const times = (count: number) => Array.from({ length: count }, () => 'state=active').join('&');
    expect(codesOf(await list(`?${times(250)}`))).toEqual(['DES', 'ENG']);
    expect(await list(`?${times(251)}`)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'state' }] },
    });
  });
});

describe('GET /v1/teams/{teamCode}', () => {
  it.each(['ENG', 'eng', 'En%67'])('finds the team by its code, whatever its case: %s', async (code) => {
    const { status, body, statements } = await app.request<Record<string, unknown>>(
      'GET',
      `/v1/teams/${code}`,
    );
    expect(status).toBe(200);
    expectFields(body, teamDetail);
    expect(body).toMatchObject({
      code: 'ENG',
      name: 'Engineering',
      leadDisplayName: 'Lena',
      nextIssueNumber: 43,
    });
    expect(statements).toBeLessThanOrEqual(4);
  });

  it('answers 404 for what names no team of the workspace', async () => {
    const second = await app.secondWorkspace();
    const foreign = await fixtureTeam(app.database, second.workspaceId, { code: 'FAR' });
    const id = teams[0]?.id ?? '';
    const names = [
      foreign.code,
      'NOPE',
      id,
      id.toUpperCase(),
      'E NG',
      'ENG%00',
      'ENG%2F',
      'ÉNG',
      '0',
      'ENG-1',
      'x'.repeat(5000),
    ];
    for (const name of names) {
      const { status, body } = await app.request('GET', `/v1/teams/${name}`);
      expect([name.slice(0, 20), status]).toEqual([name.slice(0, 20), 404]);
      expectFields(body, problem);
      expect(body).toMatchObject({ code: 'not_found', detail: 'There is no such team.', errors: [] });
    }
    expect(await app.request('GET', '/v1/teams/FAR', { token: second.token })).toMatchObject({ status: 200 });
  });
});

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
