import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fold } from '../../src/resolvers/fold.ts';
import { type App, startApp } from '../support/app.ts';
import { allRows, at, folded, inOrder, plain, ranked, type Row, type SortKey } from './demo-lists.ts';
import { type ListBody, walk } from './walk.ts';

let app: App;
/** Everything of the demo, as the graph shows it, by the path of its list. */
const rows: Record<string, Row[]> = {};
beforeAll(async () => {
  app = await startApp({ demo: true });
  rows['/v1/projects'] = await allRows(
    app,
    'projects',
    'name priority leadUserAccountId lead { displayName } targetUtc statusId status { position } teamId team { code } labelIds',
  );
  rows['/v1/members'] = await allRows(
    app,
    'members',
    'displayName emailAddress role status teamIds teams(first: 250) { nodes { code } }',
  );
  rows['/v1/issues'] = await allRows(
    app,
    'issues',
    `key number title priority teamId team { code } statusId status { position category isTerminal }
     projectId project { key } deliveryId labelIds parentIssueId reporterUserAccountId
     primaryAssigneeUserAccountId assigneeUserAccountIds createdUtc updatedUtc closedUtc lastActivityUtc dueDate`,
  );
}, 120_000);
afterAll(() => app.stop());

const priorities = ['URGENT', 'HIGH', 'MEDIUM', 'LOW', 'NONE'];
const sorts: Readonly<Record<string, Readonly<Record<string, SortKey>>>> = {
  '/v1/projects': {
    name: folded('name'),
    priority: ranked('priority', priorities),
    lead: folded('lead.displayName'),
    target: plain('targetUtc'),
    target_date: plain('targetUtc'),
    status: plain('status.position'),
  },
  '/v1/members': {
    display_name: folded('displayName'),
    role: ranked('role', ['OWNER', 'ADMIN', 'MEMBER', 'GUEST']),
    status: ranked('status', ['INVITED', 'ACTIVE', 'SUSPENDED', 'REMOVED']),
  },
  '/v1/issues': {
    created: plain('createdUtc'),
    updated: plain('updatedUtc'),
    number: plain('number'),
    priority: ranked('priority', priorities),
    due_date: plain('dueDate'),
    title: folded('title'),
    last_activity: plain('lastActivityUtc'),
  },
};
const directions = ['asc', 'ascending', 'desc', 'descending'];
const idsOf = (list: readonly Record<string, unknown>[]) => list.map(({ id }) => id);

describe.each(Object.entries(sorts))('%s is sorted', (path, keys) => {
  it.each(Object.keys(keys).flatMap((sort) => directions.map((direction) => [sort, direction] as const)))(
    'by %s %s: page by page as worked out in JavaScript, nulls last, ties by id',
    async (sort, direction) => {
      const all = rows[path] ?? [];
      const size = Math.max(2, Math.ceil(all.length / 4));
      const pages = await walk(
        app,
        `${path}?sort=${sort}&direction=${direction}&page_size=${Math.min(size, 250)}`,
      );
      const expected = inOrder(all, keys[sort] ?? (() => null), direction);
      expect(pages.flatMap(({ body }) => idsOf(body.results))).toEqual(idsOf(expected));
    },
  );
});

it('lists projects by name, members by display name and issues newest first when nothing is said', async () => {
  const shown = async (path: string) =>
    idsOf((await app.request<ListBody>('GET', `${path}?page_size=250`)).body.results);
  const expected = (path: string, sort: string, direction: string) =>
    idsOf(inOrder(rows[path] ?? [], sorts[path]?.[sort] ?? (() => null), direction)).slice(0, 250);
  expect(await shown('/v1/projects')).toEqual(expected('/v1/projects', 'name', 'asc'));
  expect(await shown('/v1/members')).toEqual(expected('/v1/members', 'display_name', 'asc'));
  expect(await shown('/v1/issues')).toEqual(expected('/v1/issues', 'created', 'desc'));
});

/** A query made of the demo's own ids, and the rows that it must let through. */
type Case = readonly [string, () => { path: string; query: string; keep: (row: Row) => boolean }];

/** Two values of a column that rows have, and what it means to have one of them. */
function valuesOf(path: string, column: string, list = false): [string, string] {
  const found = new Set(
    (rows[path] ?? []).flatMap((row) => (list ? (at(row, column) as string[]) : [at(row, column)])),
  );
  const [first = '', second = ''] = [...found].filter((value) => typeof value === 'string');
  return [first, second];
}

/** A repeated filter by a column: both values, joined by OR. */
const repeated =
  (path: string, parameter: string, column: string, list = false, spell = (value: string) => value) =>
  () => {
    const values = valuesOf(path, column, list);
    const keep = (row: Row) => {
      const own = list ? (at(row, column) as string[]) : [at(row, column)];
      return values.some((value) => own.includes(value));
    };
    return { path, query: values.map((value) => `${parameter}=${spell(value)}`).join('&'), keep };
  };

const given = (path: string, query: () => string, keep: (row: Row) => boolean) => () => ({
  path,
  query: query(),
  keep,
});

const lower = (text: string) => text.toLowerCase();
const contains = (row: Row, column: string, text: string) =>
  fold(String(at(row, column) ?? '')).includes(fold(text));
const firstLead = () => valuesOf('/v1/projects', 'leadUserAccountId')[0];
const firstTeam = (path: string) => valuesOf(path, 'team.code')[0];

const cases: readonly Case[] = [
  ['a label', repeated('/v1/projects', 'label_id', 'labelIds', true)],
  ['a lead', repeated('/v1/projects', 'lead_user_account_id', 'leadUserAccountId')],
  ['a status', repeated('/v1/projects', 'status_id', 'statusId')],
  ['a team', repeated('/v1/projects', 'team_id', 'teamId')],
  ['a priority by name', repeated('/v1/projects', 'priority', 'priority', false, lower)],
  [
    'a priority by number',
    given(
      '/v1/projects',
      () => 'priority=2&priority=0',
      (row) => ['HIGH', 'NONE'].includes(String(row['priority'])),
    ),
  ],
  [
    'the code of a team in any case',
    given(
      '/v1/projects',
      () => `team_code=${lower(firstTeam('/v1/projects'))}`,
      (row) => at(row, 'team.code') === firstTeam('/v1/projects'),
    ),
  ],
  [
    'no lead left out',
    given(
      '/v1/projects',
      () => 'include_no_lead=false',
      (row) => row['leadUserAccountId'] !== null,
    ),
  ],
  [
    'no lead let in',
    given(
      '/v1/projects',
      () => 'include_no_lead=true',
      () => true,
    ),
  ],
  [
    'a lead or none',
    given(
      '/v1/projects',
      () => `lead_user_account_id=${firstLead()}&include_no_lead=true`,
      (row) => [firstLead(), null].includes(row['leadUserAccountId'] as string | null),
    ),
  ],
  [
    'a lead and not none',
    given(
      '/v1/projects',
      () => `lead_user_account_id=${firstLead()}&include_no_lead=false`,
      (row) => row['leadUserAccountId'] === firstLead(),
    ),
  ],
  ['a role', repeated('/v1/members', 'role', 'role', false, lower)],
  ['a status', repeated('/v1/members', 'status', 'status', false, lower)],
  ['a team', repeated('/v1/members', 'team_id', 'teamIds', true)],
  [
    'the code of a team and the id of another: in both',
    () => {
      const path = '/v1/members';
      const member = rows[path]?.find((row) => (row['teamIds'] as string[]).length > 1);
      const [, second = ''] = member?.['teamIds'] as string[];
      const codes = (row: Row) => (at(row, 'teams.nodes') as { code: string }[]).map(({ code }) => code);
      const [code = ''] = member ? codes(member) : [];
      const keep = (row: Row) => codes(row).includes(code) && (row['teamIds'] as string[]).includes(second);
      return { path, query: `team_code=${code}&team_id=${second}`, keep };
    },
  ],
  [
    'a text in name or address',
    given(
      '/v1/members',
      () => 'query=AN',
      (row) => contains(row, 'displayName', 'an') || contains(row, 'emailAddress', 'an'),
    ),
  ],
  ['a team', repeated('/v1/issues', 'team_id', 'teamId')],
  ['a status', repeated('/v1/issues', 'status_id', 'statusId')],
  ['a category', repeated('/v1/issues', 'status_category', 'status.category', false, lower)],
  ['a project', repeated('/v1/issues', 'project_id', 'projectId')],
  ['a delivery', repeated('/v1/issues', 'delivery_id', 'deliveryId')],
  ['a label', repeated('/v1/issues', 'label_id', 'labelIds', true)],
  ['a parent', repeated('/v1/issues', 'parent_issue_id', 'parentIssueId')],
  ['a reporter', repeated('/v1/issues', 'reporter_user_account_id', 'reporterUserAccountId')],
  [
    'a primary assignee',
    repeated('/v1/issues', 'primary_assignee_user_account_id', 'primaryAssigneeUserAccountId'),
  ],
  ['an assignee', repeated('/v1/issues', 'assignee_user_account_id', 'assigneeUserAccountIds', true)],
  ['a priority', repeated('/v1/issues', 'priority', 'priority', false, lower)],
  [
    'what is not completed',
    given(
      '/v1/issues',
      () => 'include_completed=false',
      (row) => at(row, 'status.isTerminal') === false,
    ),
  ],
  [
    'a text',
    given(
      '/v1/issues',
      () => 'query=THE',
      (row) => contains(row, 'title', 'the'),
    ),
  ],
  [
    'a project’s key, in a team',
    given(
      '/v1/issues',
      () => `project_key=${lower(valuesOf('/v1/issues', 'project.key')[0])}`,
      (row) => at(row, 'project.key') === valuesOf('/v1/issues', 'project.key')[0],
    ),
  ],
  [
    'a team’s code',
    given(
      '/v1/issues',
      () => `team_code=${lower(firstTeam('/v1/issues'))}`,
      (row) => at(row, 'team.code') === firstTeam('/v1/issues'),
    ),
  ],
  ...(['created', 'updated', 'closed'] as const).map(
    (moment): Case => [
      `when it was ${moment}, both ends included`,
      () => {
        const path = '/v1/issues';
        const times = (rows[path] ?? [])
          .flatMap((row) => row[`${moment}Utc`] ?? [])
          .map(String)
          .toSorted();
        const [from = '', to = ''] = [
          times[Math.floor(times.length / 4)],
          times[Math.floor(times.length / 2)],
        ];
        const keep = (row: Row) => {
          const time = row[`${moment}Utc`];
          return typeof time === 'string' && time >= from && time <= to;
        };
        return { path, query: `${moment}_from_utc=${from}&${moment}_to_utc=${to}`, keep };
      },
    ],
  ),
  [
    'the day that it is due',
    () => {
      const path = '/v1/issues';
      const days = (rows[path] ?? [])
        .flatMap((row) => row['dueDate'] ?? [])
        .map(String)
        .toSorted();
      const [from = '', to = ''] = [days[1], days[Math.floor(days.length / 2)]];
      const keep = ({ dueDate }: Row) => typeof dueDate === 'string' && dueDate >= from && dueDate <= to;
      return { path, query: `due_from=${from}&due_to=${to}`, keep };
    },
  ],
];

describe('filters', () => {
  it.each(cases.map(([what, make], index) => [index, what, make] as const))(
    '%i: %s lets through what JavaScript lets through',
    async (_index, _what, make) => {
      const { path, query, keep } = make();
      const all = rows[path] ?? [];
      const pages = await walk(app, `${path}?page_size=250&${query}`);
      const expected = idsOf(all.filter(keep)).toSorted();
      expect([query, pages.flatMap(({ body }) => idsOf(body.results)).toSorted()]).toEqual([query, expected]);
      expect(pages[0]?.body.pagination.totalCount).toBe(expected.length);
      if (!query.includes('include_no_lead=true')) expect(expected.length).toBeLessThan(all.length);
      expect(expected).not.toHaveLength(0);
    },
  );
});

describe('unknown things', () => {
  const nobody = '01h455vb4pex5vsknk084sn02q';

  it.each(['/v1/projects', '/v1/members'])('%s: an unknown team is 400 under its parameter', async (path) => {
    for (const [query, fields] of [
      ['team_code=NOPE', ['team_code']],
      ['team_code=', ['team_code']],
      ['team_code=E-1', ['team_code']],
      [`team_id=team_${nobody}`, ['team_id']],
      [`team_id=team_${nobody}&team_code=NOPE`, ['team_code', 'team_id']],
    ] as const) {
      const answer = await app.request<{ code: string; errors: { field: string }[] }>(
        'GET',
        `${path}?${query}`,
      );
      expect([query, answer.status, answer.body.code]).toEqual([query, 400, 'invalid_request']);
      expect(answer.body.errors.map(({ field }) => field)).toEqual(fields);
      expect(JSON.stringify(answer.body.errors)).not.toContain(nobody);
    }
  });

  it.each([
    `/v1/projects?label_id=label_${nobody}`,
    `/v1/projects?lead_user_account_id=user_${nobody}`,
    `/v1/projects?status_id=pstatus_${nobody}`,
    `/v1/issues?team_id=team_${nobody}`,
    `/v1/issues?project_key=NOPE`,
    `/v1/members?query=nobody+is+called+that`,
  ])('%s is an empty list', async (path) => {
    const { status, body } = await app.request<ListBody>('GET', path);
    expect([status, body.results, body.pagination.totalCount]).toEqual([200, [], 0]);
  });
});
