import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';
import { cases, rows } from './demo-filters.ts';
import { allRows, folded, inOrder, plain, ranked, type SortKey } from './demo-lists.ts';
import { type ListBody, walk } from './walk.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
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
});
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
/** The directions to try. There are many issues, so the long spellings are only tried on other lists. */
const directionsOf = (path: string) =>
  path === '/v1/issues' ? ['asc', 'desc'] : ['asc', 'ascending', 'desc', 'descending'];
const idsOf = (list: readonly Record<string, unknown>[]) => list.map(({ id }) => String(id));

describe.each(Object.entries(sorts))('%s is sorted', (path, keys) => {
  it.each(
    Object.keys(keys).flatMap((sort) => directionsOf(path).map((direction) => [sort, direction] as const)),
  )('by %s %s: page by page as worked out in JavaScript, nulls last, ties by id', async (sort, direction) => {
    const all = rows[path] ?? [];
    const size = Math.max(2, Math.ceil(all.length / 4));
    const pages = await walk(
      app,
      `${path}?sort=${sort}&direction=${direction}&page_size=${Math.min(size, 250)}`,
    );
    const expected = inOrder(all, keys[sort] ?? (() => null), direction);
    expect(pages.flatMap(({ body }) => idsOf(body.results))).toEqual(idsOf(expected));
  });
});

it('the default order is by name for projects, by display name for members and newest first for issues', async () => {
  const shown = async (path: string) =>
    idsOf((await app.request<ListBody>('GET', `${path}?page_size=250`)).body.results);
  const expected = (path: string, sort: string, direction: string) =>
    idsOf(inOrder(rows[path] ?? [], sorts[path]?.[sort] ?? (() => null), direction)).slice(0, 250);
  expect(await shown('/v1/projects')).toEqual(expected('/v1/projects', 'name', 'asc'));
  expect(await shown('/v1/members')).toEqual(expected('/v1/members', 'display_name', 'asc'));
  expect(await shown('/v1/issues')).toEqual(expected('/v1/issues', 'created', 'desc'));
});

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

describe('unknown objects', () => {
  const nobody = '01h455vb4pex5vsknk084sn02q';

  it.each(['/v1/projects', '/v1/members', '/v1/issues'])(
    '%s: an unknown team is 400 under its parameter',
    async (path) => {
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
    },
  );

  it.each([
    `/v1/projects?label_id=label_${nobody}`,
    `/v1/projects?lead_user_account_id=user_${nobody}`,
    `/v1/projects?status_id=pstatus_${nobody}`,
    `/v1/issues?project_key=NOPE`,
    `/v1/members?query=nobody+is+called+that`,
  ])('%s is an empty list', async (path) => {
    const { status, body } = await app.request<ListBody>('GET', path);
    expect([status, body.results, body.pagination.totalCount]).toEqual([200, [], 0]);
  });
});
