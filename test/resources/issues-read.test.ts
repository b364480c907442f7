import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeId } from '../../src/resolvers/ids.ts';
import { describeReads } from '../graph/read-suite.ts';
import { codesOf, dataOf } from '../graph/graph-answer.ts';
import { matches } from '../graph/model-queries.ts';
import { sharedWorld, type SharedWorld } from '../graph/shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

describeReads('Issue', () => world, { thorough: ['Query.issues', 'Project.issues'] });

describe('an issue', () => {
  it('says whether the viewer is subscribed to it and may change it', async () => {
    const readers = [
      // The owner, a member without the write scope, a guest with it, and a member with it.
      { index: 0, scopes: ['issues:read', 'issues:write'], may: true },
      { index: 2, scopes: ['issues:read'], may: false },
      { index: 7, scopes: ['issues:read', 'issues:write'], may: false },
      { index: 2, scopes: ['issues:read', 'issues:write'], may: true },
    ] as const;
    const { member, issueSubscription } = world.fixture.rows;
    for (const { index, scopes, may } of readers) {
      const query = '{ issues(first: 250) { nodes { id isSubscribed viewerCanUpdate viewerCanDelete } } }';
      const answer = await world.ask(query, {}, await world.token(scopes, index));
      const { nodes } = dataOf(answer).issues as { nodes: Record<string, unknown>[] };
      const followed = issueSubscription.filter(
        ({ userAccountId }) => userAccountId === member[index]?.userAccountId,
      );
      const ids = new Set(followed.map(({ issueId }) => encodeId('issue', issueId)));
      expect(nodes).toEqual(
        nodes.map(({ id }) => ({
          id,
          isSubscribed: ids.has(String(id)),
          viewerCanUpdate: may,
          viewerCanDelete: may,
        })),
      );
    }
  });

  it('has a null parent when its parent is deleted', async () => {
    const orphan = world.fixture.rows.issue.find(({ deletedParentIssueId }) => deletedParentIssueId);
    const query = 'query ($id: ID!) { node(id: $id) { ... on Issue { parentIssueId parent { id } } } }';
    const answer = await world.ask(query, { id: encodeId('issue', orphan?.id ?? '') });
    expect(dataOf(answer).node).toEqual({ parentIssueId: null, parent: null });
  });

  it('is found by a literal filter as by one in a variable, and null counts as left out', async () => {
    const query = `query ($filter: IssueFilter) {
      byLiteral: issues(filter: { and: [{ priority: { in: [URGENT, HIGH] }, team: { code: { eq: "eng" } } }, { not: { labels: { some: {} } } }], dueDate: null, status: { isTerminal: { eq: null } } }) { nodes { id } }
      byVariable: issues(filter: $filter) { nodes { id } }
      all: issues(filter: null) { totalCount }
    }`;
    const filter = {
      and: [
        { priority: { in: ['URGENT', 'HIGH'] }, team: { code: { eq: 'eng' } } },
        { not: { labels: { some: {} } } },
      ],
    };
    const { byLiteral, byVariable, all } = dataOf(await world.ask(query, { filter })) as Record<
      string,
      { nodes: unknown[]; totalCount: number }
    >;
    expect(byLiteral).toEqual(byVariable);
    expect(byVariable?.nodes.length).toBeGreaterThan(0);
    expect(all?.totalCount).toBe(world.model.all('Issue').length);
  });
});

describe('a filter', () => {
  const refused: { faults: string; filter: unknown }[] = [
    { faults: 'teamId.eq', filter: { teamId: { eq: 'x' } } },
    {
      faults: 'teamId.in[0] teamId.in[1]',
      filter: { teamId: { in: ['x', 'issue_01h455vb4pex5vsknk084sn02q'] } },
    },
    {
      faults: 'or[0].not.team.leadUserAccountId.eq',
      filter: { or: [{ not: { team: { leadUserAccountId: { eq: 'ENG' } } } }] },
    },
    {
      faults: 'labels.some.id.nin[0] labels.none.id.eq',
      filter: { labels: { some: { id: { nin: ['x'] } }, none: { id: { eq: '' } } } },
    },
    { faults: 'title.contains', filter: { title: { contains: 'a\0b' } } },
    { faults: 'title.in[0]', filter: { title: { in: ['\ud800'] } } },
    { faults: 'number.in', filter: { number: { in: Array.from({ length: 251 }, (_none, index) => index) } } },
    { faults: 'and[0].or[0].not.and', filter: { and: [{ or: [{ not: { and: [] } }] }] } },
    {
      faults: 'and[0].team.and[0].or[0].not',
      filter: { and: [{ team: { and: [{ or: [{ not: { code: { eq: 'ENG' } } }] }] } }] },
    },
    { faults: 'parent.parent.team.lead', filter: { parent: { parent: { team: { lead: {} } } } } },
    {
      faults: 'parent.parent.parent.assignees.none',
      filter: { parent: { parent: { parent: { assignees: { none: {} } } } } },
    },
    {
      faults: '',
      filter: { or: Array.from({ length: 101 }, (_none, index) => ({ number: { eq: index } })) },
    },
  ];

  it.each(refused)('is refused with the path of each fault: $faults', async ({ filter, faults }) => {
    const answer = await world.ask(
      'query ($filter: IssueFilter) { issues(filter: $filter) { totalCount } }',
      { filter },
    );
    expect(codesOf(answer)).toEqual(['INVALID_REQUEST']);
    const violations = answer.body.errors?.[0]?.extensions?.errors as { field: string }[];
    expect(violations.map(({ field }) => field)).toEqual(
      faults.split(' ').map((path) => (path ? `filter.${path}` : 'filter')),
    );
  });

  const empty: [matched: 'every' | 'no', filter: object][] = [
    ['every', { and: [] }],
    ['every', { statusId: { nin: [] } }],
    ['every', { and: [{ team: { or: [{ not: { code: { in: [] } } }] } }] }],
    ['no', { or: [] }],
    ['no', { statusId: { in: [] } }],
    ['no', { not: {} }],
  ];

  it.each(empty)('matches %s issue: %j', async (matched, filter) => {
    const query = 'query ($filter: IssueFilter) { issues(filter: $filter) { totalCount } }';
    const { issues } = dataOf(await world.ask(query, { filter }));
    expect(issues).toEqual({ totalCount: matched === 'every' ? world.model.all('Issue').length : 0 });
  });

  it('with an id of another kind is refused with the name of that kind', async () => {
    const [team] = world.model.all('Team');
    const answer = await world.ask(
      'query ($id: ID) { issues(filter: { statusId: { eq: $id } }) { totalCount } }',
      { id: team?.id },
    );
    expect(answer.body.errors?.[0]?.message).toBe('filter.statusId.eq: expected a status id, got a team id.');
  });

  it.each([
    { dueDate: { eq: '2026-02-30' } },
    { createdUtc: { gt: '2026-01-01' } },
    { createdUtc: { gt: '2026-01-01T00:00:00' } },
    { number: { eq: 2_147_483_648 } },
    { number: { eq: '1' } },
    { priority: { eq: 'HIGHEST' } },
    { priority: { in: [null] } },
    { summary: { eq: 'x' } },
    { title: { matches: 'x' } },
  ])('%j does not fit the schema', async (filter) => {
    const answer = await world.ask(
      'query ($filter: IssueFilter) { issues(filter: $filter) { totalCount } }',
      { filter },
    );
    expect(codesOf(answer)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(answer.body.data).toBeUndefined();
  });

  it('may have combinators and relations three levels deep, 250 values, 100 conditions, and both ends of every range', async () => {
    const filters = [
      { and: [{ or: [{ not: { number: { eq: 1 } } }] }] },
      { number: { in: Array.from({ length: 250 }, (_none, index) => index) } },
      { parent: { parent: { team: { name: { contains: 'a' } } } } },
      { or: Array.from({ length: 100 }, (_none, index) => ({ number: { eq: index } })) },
      { number: { gte: -2_147_483_648, lte: 2_147_483_647 } },
      { dueDate: { gte: '0001-01-01', lte: '9999-12-31' } },
      { createdUtc: { gte: '0001-01-01T00:00:00Z', lte: '9999-12-31T23:59:59.999Z' } },
    ];
    for (const filter of filters) {
      const query = 'query ($filter: IssueFilter) { issues(filter: $filter) { totalCount } }';
      const { issues } = dataOf(await world.ask(query, { filter }));
      const matching = world.model.all('Issue').filter((issue) => matches('IssueFilter', filter, issue));
      expect({ filter, issues }).toEqual({ filter, issues: { totalCount: matching.length } });
    }
  });

  it('accepts times with any offset', async () => {
    const [issue] = world.model.all('Issue');
    const createdUtc = String(issue?.createdUtc);
    const elsewhere = new Date(Date.parse(createdUtc) + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
    const query =
      'query ($at: DateTime) { issues(filter: { createdUtc: { eq: $at } }) { nodes { createdUtc } } }';
    const { nodes } = dataOf(await world.ask(query, { at: elsewhere })).issues as { nodes: unknown[] };
    expect(nodes).toContainEqual({ createdUtc });
  });

  it('compares times between two milliseconds, which equal no stored time', async () => {
    const stored = world.model.all('Issue').map((issue) => String(issue.createdUtc));
    const at = stored.toSorted()[Math.floor(stored.length / 2)] ?? '';
    const later = at.replace('Z', '000001Z');
    const query = (comparison: string) =>
      `query ($at: DateTime!) { issues(first: 250, filter: { createdUtc: { ${comparison} } }) { nodes { createdUtc } } }`;
    const shown = async (comparison: string) => {
      const { nodes } = dataOf(await world.ask(query(comparison), { at: later })).issues as {
        nodes: { createdUtc: string }[];
      };
      return nodes.map(({ createdUtc }) => createdUtc).toSorted();
    };
    const [upTo, after] = [stored.filter((time) => time <= at), stored.filter((time) => time > at)];
    expect(upTo).toContain(at);
    expect(after).not.toEqual([]);
    for (const is of ['gt', 'gte']) expect(await shown(`${is}: $at`)).toEqual(after.toSorted());
    for (const is of ['lt', 'lte']) expect(await shown(`${is}: $at`)).toEqual(upTo.toSorted());
    expect(await shown('eq: $at')).toEqual([]);
    expect(await shown(`in: [$at, "${at}"]`)).toEqual(stored.filter((time) => time === at));
  });
});
