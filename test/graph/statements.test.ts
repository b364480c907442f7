import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, isLeafType } from 'graphql';
import { connectionFields, objectFields, objectTypes, planOf } from './schema-walk.ts';
import { cachedDeclaration } from '../../src/db/tables/cached-tables.ts';
import type { TableName } from '../../src/db/tables/tables.ts';
import type { Entity } from '../../src/schema/builder/entity.ts';
import { schema } from '../../src/schema/index.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { dataOf } from './graph-answer.ts';
import { sharedWorld, type SharedWorld } from './shared-world.ts';
import { dayArguments } from './trend-arguments.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

describe('an operation takes', () => {
  // With the compiled executor, which has reference data in memory, and with the graphql-js executor.
  it.each([
    [
      'nothing for what the token says',
      '{ viewer { scopes } health { status } codes { name } __typename }',
      0,
      0,
    ],
    ['none for a root that is cached', '{ team(code: "ENG") { name } }', 0, 1],
    ['one for a page', '{ issues { nodes { title } edges { cursor } pageInfo { endCursor } } }', 1, 1],
    ['one for a count, without the page, which is not selected', '{ issues { totalCount } }', 1, 1],
    ['one for a page of children of all parents', '{ teams { nodes { issues { nodes { title } } } } }', 1, 2],
    ['one for the counts under all parents', '{ teams { nodes { issues { totalCount } } } }', 1, 2],
    ['none for counts of what is cached', '{ teams { totalCount nodes { projects { totalCount } } } }', 0, 3],
    [
      'one for each page under other arguments',
      '{ teams { nodes { a: issues { nodes { id } } b: issues(first: 1) { nodes { id } } } } }',
      2,
      3,
    ],
    [
      'one for the same page twice',
      '{ teams { nodes { a: issues { nodes { id } } b: issues { nodes { title } } } } }',
      1,
      2,
    ],
    [
      'none for ids beside references',
      '{ issues { nodes { teamId statusId projectId parentIssueId primaryAssigneeUserAccountId } } }',
      1,
      1,
    ],
    ['none for a reference to what is cached', '{ issues { nodes { team { name } } } }', 1, 2],
    ['one for a reference, of however many rows', '{ issues { nodes { parent { title } } } }', 2, 2],
    [
      'none for members in whatever part',
      '{ issues { nodes { reporter { displayName } primaryAssignee { displayName } } } }',
      1,
      2,
    ],
    ['none for the teams behind keys', '{ issues { nodes { key url team { code } } } }', 1, 2],
    [
      'none for a list of what is cached, and for its ids',
      '{ issues { nodes { labels { name } labelIds } } }',
      1,
      2,
    ],
    ['none for what the viewer follows', '{ issues { nodes { isSubscribed } } }', 1, 2],
    [
      'one for counters in slots',
      '{ teams { nodes { deliveries { nodes { issueCount closedIssueCount } } } } }',
      1,
      4,
    ],
    [
      'none for what is worked out of a row',
      '{ issues { nodes { viewerCanUpdate comments { nodes { canManage body } } } } }',
      2,
      2,
    ],
    [
      'one for a filter by relations',
      '{ issues(filter: { team: { lead: { teams: { some: { code: { eq: "OPS" } } } } }, labels: { none: {} } }) { nodes { id } } }',
      1,
      1,
    ],
  ])('%s', async (_what, query, compiled, graphqlJs) => {
    expect(await statementsOf(query)).toBe(isGraphqlJs ? graphqlJs : compiled);
  });

  it('as many statements for the first page as for any other', async () => {
    const query =
      'query ($after: String) { issues(first: 2, after: $after) { pageInfo { endCursor } nodes { key } } }';
    const first = await world.ask(query);
    const { pageInfo } = dataOf(first).issues as { pageInfo: { endCursor: string } };
    expect((await world.ask(query, { after: pageInfo.endCursor })).statements).toBe(first.statements);
  });
});

// Fields are batched: the number of statements is the same for many parents as for a few.
describe('under any number of parents', () => {
  const nodeTypes = objectTypes.filter((type) => type.getInterfaces().length > 0).map(({ name }) => name);
  const worked = objectFields.filter(({ parent, field }) => {
    const kind = planOf(field)?.kind;
    return nodeTypes.includes(parent) && kind !== undefined && kind !== 'id' && kind !== 'connection';
  });

  it.each(worked)('$coordinate takes a few statements at most', async ({ parent, field }) => {
    const selection = isLeafType(getNamedType(field.type))
      ? field.name
      : `${field.name}${dayArguments(field.args)} { __typename }`;
    // One for the nodes, one for the row from which the value is computed, and one for a row that this refers to.
    expect(await costOf(parent, selection)).toBeLessThanOrEqual(3);
  });

  it.each(connectionFields.filter(({ parent }) => parent !== 'Query'))(
    '$coordinate takes one, unless it is cached in memory',
    async ({ parent, field }) => {
      const parentStatements = isCached(tableOf(parent)) ? 0 : 1;
      const listStatements = isCachedList(field) ? 0 : 1;
      const page = `${field.name}(first: 3) { edges { cursor node { id } } }`;
      expect(await costOf(parent, page)).toBe(parentStatements + listStatements);
      expect(await costOf(parent, page.replace('{', '{ totalCount'))).toBe(
        parentStatements + (keepsCount(parent, field) ? 1 : 2) * listStatements,
      );
    },
  );
});

function isCached(table: string): boolean {
  return !isGraphqlJs && cachedDeclaration(table) !== undefined;
}

function isCachedList(field: (typeof connectionFields)[number]['field']): boolean {
  const plan = planOf(field);
  if (plan?.kind !== 'connection') throw new Error(`${field.name} is not a connection.`);
  const { table, parent } = plan.list.source;
  return isCached(table) && (!parent || !('through' in parent) || isCached(parent.through.table));
}

function tableOf(typeName: string): string {
  const { entity } = (schema.getType(typeName)?.extensions ?? {}) as { entity: Entity<TableName> };
  return entity.options.table;
}

/** Whether the total takes no statement, because the parent stores a count or the rows are cached. */
function keepsCount(parent: string, field: (typeof connectionFields)[number]['field']): boolean {
  const plan = planOf(field);
  return plan?.kind === 'connection' && plan.count !== undefined && !isCached(tableOf(parent));
}

/** The number of statements that reading a selection of all objects of a type takes. */
async function costOf(typeName: string, selection: string): Promise<number> {
  const ids = world.model.all(typeName).map(({ id }) => id);
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${typeName} { ${selection} } } }`;
  return statementsOf(query, { ids });
}

async function statementsOf(query: string, variables: Record<string, unknown> = {}): Promise<number> {
  const answer = await world.ask(query, variables);
  dataOf(answer);
  return answer.statements;
}
