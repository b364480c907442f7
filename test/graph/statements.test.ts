import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, isLeafType } from 'graphql';
import { connectionFields, objectFields, objectTypes, planOf } from './schema-walk.ts';
import { isReference } from '../support/app.ts';
import { dataOf, startWorld, type World } from './world.ts';

let world: World;
/** What every request takes: the look-up of its token. */
let base: number;

beforeAll(async () => {
  world = await startWorld();
  base = await statementsOf('{ viewer { scopes } }');
});
afterAll(() => world.stop());

describe('an operation takes', () => {
  // Beyond the look-up of the token.
  it.each([
    [
      'nothing for what the token says',
      '{ viewer { scopes } health { status } codes { name } __typename }',
      0,
    ],
    ['one statement for a root by its key', '{ team(code: "ENG") { name } }', 1],
    ['one for a page', '{ issues { nodes { title } edges { cursor } pageInfo { endCursor } } }', 1],
    [
      'one for a count, without a page that nobody asked for',
      '{ issues { totalCount } }',
      isReference ? 2 : 1,
    ],
    ['one for a page of children of all parents', '{ teams { nodes { issues { nodes { title } } } } }', 2],
    [
      'one for the counts under all parents',
      '{ teams { nodes { issues { totalCount } } } }',
      isReference ? 3 : 2,
    ],
    [
      'one for each page under other arguments',
      '{ teams { nodes { a: issues { nodes { id } } b: issues(first: 1) { nodes { id } } } } }',
      3,
    ],
    [
      'one for the same page twice',
      '{ teams { nodes { a: issues { nodes { id } } b: issues { nodes { title } } } } }',
      2,
    ],
    [
      'none for ids beside references',
      '{ issues { nodes { teamId statusId projectId parentIssueId primaryAssigneeUserAccountId } } }',
      1,
    ],
    ['one for a reference, of however many rows', '{ issues { nodes { team { name } } } }', 2],
    [
      'one for members in whatever part',
      '{ issues { nodes { reporter { displayName } primaryAssignee { displayName } } } }',
      2,
    ],
    ['one for the teams behind keys', '{ issues { nodes { key url team { code } } } }', 2],
    ['one for a list, and for its ids', '{ issues { nodes { labels { name } labelIds } } }', 2],
    ['one for what the viewer follows', '{ issues { nodes { isSubscribed } } }', 2],
    [
      'one for counters in slots',
      '{ teams { nodes { deliveries { nodes { issueCount closedIssueCount } } } } }',
      isReference ? 4 : 3,
    ],
    [
      'none for what is worked out of a row',
      '{ issues { nodes { viewerCanUpdate comments { nodes { canManage body } } } } }',
      2,
    ],
    [
      'one for a filter by relations',
      '{ issues(filter: { team: { lead: { teams: { some: { code: { eq: "OPS" } } } } }, labels: { none: {} } }) { nodes { id } } }',
      1,
    ],
  ])('%s', async (_what, query, statements) => {
    expect(await statementsOf(query)).toBe(base + statements);
  });

  it('as many for the first page as for any other', async () => {
    const query =
      'query ($after: String) { issues(first: 2, after: $after) { pageInfo { endCursor } nodes { key } } }';
    const first = await world.ask(query);
    const { pageInfo } = dataOf(first).issues as { pageInfo: { endCursor: string } };
    expect((await world.ask(query, { after: pageInfo.endCursor })).statements).toBe(first.statements);
  });
});

// The batch behind a field: what it costs under many parents is what it costs under a few.
describe('under any number of parents', () => {
  const nodeTypes = objectTypes.filter((type) => type.getInterfaces().length > 0).map(({ name }) => name);
  const worked = objectFields.filter(({ parent, field }) => {
    const kind = planOf(field)?.kind;
    return nodeTypes.includes(parent) && kind !== undefined && kind !== 'id' && kind !== 'connection';
  });

  it.each(worked)('$coordinate takes a few statements at most', async ({ parent, field }) => {
    const selection = isLeafType(getNamedType(field.type)) ? field.name : `${field.name} { __typename }`;
    // The nodes, the row that a value is worked out of, and the one beyond it.
    expect(await costOf(parent, selection)).toBeLessThanOrEqual(base + 3);
  });

  it.each(connectionFields.filter(({ parent }) => parent !== 'Query'))(
    '$coordinate takes one',
    async ({ parent, field }) => {
      const page = `${field.name}(first: 3) { edges { cursor node { id } } }`;
      expect(await costOf(parent, page)).toBe(base + 2);
      expect(await costOf(parent, page.replace('{', '{ totalCount'))).toBe(base + 3);
    },
  );
});

/** The statements that it takes to read the selection of all things of a type. */
async function costOf(typeName: string, selection: string): Promise<number> {
  const ids = world.things.all(typeName).map(({ id }) => id);
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${typeName} { ${selection} } } }`;
  return statementsOf(query, { ids });
}

async function statementsOf(query: string, variables: Record<string, unknown> = {}): Promise<number> {
  const answer = await world.ask(query, variables);
  dataOf(answer);
  return answer.statements;
}
