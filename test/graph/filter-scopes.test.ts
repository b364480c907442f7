import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Scope } from '../../src/resolvers/context.ts';
import { sharedApp, type SharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

async function errorsOf(query: string, scopes: readonly Scope[]): Promise<readonly string[]> {
  const { body } = await app.graphql(query, {}, { token: await app.tokenFor({ scopes }) });
  return (body.errors ?? []).map(({ message, extensions }) => `${String(extensions?.code)}: ${message}`);
}

// A filter reveals whether a value matches, so a token that may not read a field must not filter by it either.
it.each<[string, Scope, Scope]>([
  [
    'issues(filter: { primaryAssignee: { emailAddress: { startsWith: "a" } } })',
    'issues:read',
    'members:read',
  ],
  [
    'issues(filter: { not: { or: [{ assignees: { some: { role: { eq: OWNER } } } }] } })',
    'issues:read',
    'members:read',
  ],
  ['issues(filter: { project: { priority: { in: [URGENT] } } })', 'issues:read', 'projects:read'],
  ['issues(filter: { team: { lead: { displayName: { eq: "x" } } } })', 'issues:read', 'teams:read'],
  ['teams(filter: { members: { none: { displayName: { eq: "x" } } } })', 'teams:read', 'members:read'],
  ['members(filter: { teams: { some: { state: { eq: ARCHIVED } } } })', 'members:read', 'teams:read'],
])('%s needs more than %s: also %s', async (list, own, other) => {
  const query = `{ ${list} { totalCount } }`;
  expect(await errorsOf(query, [own])).toEqual([
    expect.stringMatching(new RegExp(`^FORBIDDEN: .*needs ${other}`)),
  ]);
  expect(await errorsOf(query, [own, other])).toEqual([]);
});

it('filters in variables and of issueStats need the same scopes', async () => {
  const filter = { primaryAssignee: { emailAddress: { startsWith: 'a' } } };
  const token = await app.tokenFor({ scopes: ['issues:read'] });
  const query = 'query ($filter: IssueFilter) { issueStats(filter: $filter, groupBy: []) { count } }';
  const { body } = await app.graphql(query, { filter }, { token });
  expect(body.errors?.[0]?.extensions?.code).toBe('FORBIDDEN');
});

it.each<[string, Scope]>([
  ['issues(filter: { team: { code: { eq: "WEB" } }, status: { isTerminal: { eq: false } } })', 'issues:read'],
  [
    'issues(filter: { primaryAssignee: { displayName: { contains: "a" } }, labels: { some: { name: { eq: "Bug" } } } })',
    'issues:read',
  ],
  ['members(filter: { teams: { some: { code: { eq: "WEB" } } } })', 'members:read'],
  [
    'projects(filter: { team: { code: { eq: "WEB" } }, labels: { some: { name: { eq: "Bug" } } } })',
    'projects:read',
  ],
])('every filter of %s tests only what %s permits to read', async (list, own) => {
  expect(await errorsOf(`{ ${list} { totalCount } }`, [own])).toEqual([]);
});
