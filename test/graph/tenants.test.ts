import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, isInputObjectType } from 'graphql';
import { encodeId, parseId } from '../../src/resolvers/ids.ts';
import { type PageArguments, readPage, parentOfLongestList, rowsOf, sampleLists } from './lists.ts';
import {
  connectionFields,
  type FieldOf,
  inputType,
  objectFields,
  objectTypes,
  rowTypeOf,
  selectionOf,
} from './schema-walk.ts';
import type { ModelObject } from './model.ts';
import { codesOf, dataOf } from './graph-answer.ts';
import { addWorld, startWorld, type World } from './world.ts';

/** The workspace of the token. `there` has the same codes, keys and names, and one account in common. */
let here: World;
let there: World;

beforeAll(async () => {
  here = await startWorld('here');
  there = await addWorld(here.app, 'there', here.fixture.rows.member[2]?.userAccountId);
  // Objects that exist only in the other workspace.
  const { unscoped } = here.app.database;
  const { workspaceId } = there.workspace;
  await unscoped
    .updateTable('team')
    .set({ code: 'THERE' })
    .where('workspaceId', '=', workspaceId)
    .where('code', '=', 'OPS')
    .execute();
  await unscoped
    .updateTable('project')
    .set({ key: 'THERE' })
    .where('workspaceId', '=', workspaceId)
    .where('key', '=', 'ZED')
    .execute();
  there = { ...there, model: await there.read() };
});
afterAll(() => here.stop());

const nodeTypes = objectTypes
  .filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'))
  .map(({ name }) => name);

describe('from another workspace', () => {
  it.each(nodeTypes)('no %s can be read by its id', async (typeName) => {
    const ids = there.model.all(typeName).map(({ id }) => id);
    expect(ids).not.toHaveLength(0);
    const query = 'query ($ids: [ID!]!, $id: ID!) { nodes(ids: $ids) { id } node(id: $id) { id } }';
    expect(dataOf(await here.ask(query, { ids, id: ids[0] }))).toEqual({
      nodes: ids.map(() => null),
      node: null,
    });
    // Nor in a request with own ids, which are loaded in the same batch.
    const own = here.model.all(typeName).map(({ id }) => id);
    const mixed = dataOf(await here.ask(query, { ids: [...ids, ...own], id: own[0] }));
    expect(mixed.nodes).toEqual([...ids.map(() => null), ...own.map((id) => ({ id }))]);
  });

  it('every argument that takes an id or a key finds nothing', async () => {
    const tried = new Set<string>();
    for (const [coordinate, strangers] of Object.entries(strangersOf)) {
      const [root = '', argument = ''] = coordinate.split('.');
      for (const text of strangers()) {
        const answer = await here.ask(`{ found: ${root}(${argument}: ${JSON.stringify(text)}) { id } }`);
        expect([coordinate, text, dataOf(answer).found]).toEqual([coordinate, text, null]);
      }
      tried.add(coordinate);
    }
    // All fields that take a key, except mutations, have been tried here or above.
    const taking = objectFields
      .filter(({ parent }) => parent !== 'Mutation')
      .flatMap(({ field }) =>
        field.args.map(({ name, type }) => ({
          at: `${field.name}.${name}`,
          name,
          type: getNamedType(type).name,
        })),
      )
      .filter(
        ({ name, type }) =>
          type === 'ID' || (type === 'String' && !['after', 'before', 'timeZone'].includes(name)),
      )
      .map(({ at }) => at);
    const elsewhere = ['node.id', 'nodes.ids', 'unknownTeams.codes', 'unknownTeams.ids'];
    expect(taking.toSorted()).toEqual([...tried, ...elsewhere].toSorted());
  });

  it('a team is unknown, like one that does not exist', async () => {
    const codes = onlyThere('Team', 'code', /^THERE$/);
    const ids = idsThere('Team');
    const query = 'query ($codes: [String!], $ids: [ID!]) { unknownTeams(codes: $codes, ids: $ids) }';
    expect(dataOf(await here.ask(query, { codes, ids })).unknownTeams).toEqual([...codes, ...ids]);
  });

  it('the same code, key or number finds the own object', async () => {
    const roots = { team: ['code', 'Team'], project: ['key', 'Project'], issue: ['key', 'Issue'] } as const;
    for (const [root, [argument, typeName]] of Object.entries(roots)) {
      for (const object of here.model.all(typeName)) {
        const answer = await here.ask(
          `{ found: ${root}(${argument}: ${JSON.stringify(object[argument])}) { id } }`,
        );
        expect(dataOf(answer).found).toEqual({ id: object.id });
      }
    }
  });
});

describe('a filter by objects of another workspace', () => {
  it.each(sampleLists)('of $coordinate matches nothing', async (list) => {
    const own = rowsOf(here.model, list, parentOfLongestList(here.model, list)).map(({ id }) => id);
    for (const { name, filters, negated } of foreignFilters(rowTypeOf(list))) {
      for (const filter of filters) {
        expect([name, await readIds(list, { filter })]).toEqual([name, []]);
        expect([name, (await readIds(list, { filter: { not: filter } })).toSorted()]).toEqual([
          name,
          own.map(String).toSorted(),
        ]);
      }
      for (const filter of negated) {
        expect([name, (await readIds(list, { filter })).toSorted()]).toEqual([
          name,
          own.map(String).toSorted(),
        ]);
      }
    }
  });

  it('counts nothing', async () => {
    const ids = there.model.all('Team').map(({ id }) => id);
    const query =
      'query ($ids: [ID!]) { issueStats(filter: { teamId: { in: $ids } }, groupBy: []) { count estimateSum } issues(filter: { teamId: { in: $ids } }) { totalCount } }';
    const data = dataOf(await here.ask(query, { ids }));
    expect(data).toEqual({ issueStats: [{ count: 0, estimateSum: 0 }], issues: { totalCount: 0 } });
  });
});

describe('a cursor of another workspace', () => {
  it.each(connectionFields)('of $coordinate leads only to own rows', async (list) => {
    const { edges } = await readPage(there, list, parentOfLongestList(there.model, list), { first: 100 });
    const own = new Set(rowsOf(here.model, list, parentOfLongestList(here.model, list)).map(({ id }) => id));
    for (const { cursor } of [...edges.slice(0, 1), ...edges.slice(-1)]) {
      for (const args of [
        { first: 100, after: cursor },
        { last: 100, before: cursor },
      ]) {
        const strangers = (await readIds(list, args)).filter((id) => !own.has(id));
        expect(strangers).toEqual([]);
      }
    }
  });
});

describe('the whole readable content', () => {
  it('contains only ids of the own workspace', async () => {
    const known = await ownUuids(here);
    const foreign = await ownUuids(there);
    let seen = 0;
    for (const typeName of nodeTypes) {
      const ids = here.model.all(typeName).map(({ id }) => id);
      const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${typeName} { ${wholeSelection(typeName)} } } }`;
      for (const uuid of uuidsIn(dataOf(await here.ask(query, { ids })))) {
        seen += 1;
        expect([typeName, uuid, known.has(uuid)]).toEqual([typeName, uuid, true]);
      }
    }
    for (const { field } of connectionFields.filter(({ parent }) => parent === 'Query')) {
      const data = dataOf(await here.ask(`{ ${field.name}(first: 250) { totalCount nodes { id } } }`));
      const { totalCount, nodes } = data[field.name] as { totalCount: number; nodes: unknown[] };
      expect(nodes).toHaveLength(totalCount);
      for (const uuid of uuidsIn(nodes))
        expect([field.name, uuid, known.has(uuid)]).toEqual([field.name, uuid, true]);
    }
    expect(seen).toBeGreaterThan(1000);
    // Only the shared account occurs in both.
    expect([...foreign].filter((uuid) => known.has(uuid))).toHaveLength(1);
  });

  it('is refused to a token of no member', async () => {
    const answer = await here.ask('{ viewer { workspace { id } } }', {}, `${there.workspace.token}x`);
    expect([answer.status, codesOf(answer)]).toEqual([401, ['UNAUTHENTICATED']]);
    expect(dataOf(await here.ask('{ workspace { id } }', {}, there.workspace.token)).workspace).toEqual({
      id: encodeId('workspace', there.workspace.workspaceId),
    });
  });
});

/** For each argument that takes an id or a key, those that exist only in the other workspace. */
const strangersOf: Readonly<Record<string, () => unknown[]>> = {
  'issue.key': () => [...onlyThere('Issue', 'key', /^THERE-/), ...idsThere('Issue')],
  'team.code': () => [...onlyThere('Team', 'code', /^THERE$/), ...idsThere('Team')],
  'project.key': () => [...onlyThere('Project', 'key', /^THERE$/), ...idsThere('Project')],
  'member.id': () => idsThere('Member'),
};

function onlyThere(typeName: string, field: string, pattern: RegExp): unknown[] {
  const found = there.model
    .all(typeName)
    .map((object) => object[field])
    .filter((value) => pattern.test(String(value)));
  if (found.length === 0) throw new Error(`There is no ${typeName} of that ${field}.`);
  return found;
}

function idsThere(typeName: string): unknown[] {
  return there.model.all(typeName).map(({ id }) => id);
}

interface ForeignFilters {
  name: string;
  filters: Record<string, unknown>[];
  /** Filters that exclude only objects of the other workspace, so they exclude nothing. */
  negated: Record<string, unknown>[];
}

/** Filters by objects of the other workspace, for each field that can name an object. */
function foreignFilters(typeName: string): ForeignFilters[] {
  return Object.values(inputType(`${typeName}Filter`).getFields()).flatMap(
    ({ name, type }): ForeignFilters[] => {
      const input = getNamedType(type);
      if (!isInputObjectType(input) || ['and', 'or', 'not'].includes(name)) return [];
      if (input.name === 'IDFilter') {
        const ids = foreignIds(typeName, name);
        if (ids.length === 0) return [];
        return [
          {
            name,
            filters: [{ [name]: { eq: ids[0] } }, { [name]: { in: ids } }],
            negated: [{ [name]: { nin: ids } }],
          },
        ];
      }
      const isList = input.name.endsWith('ListFilter');
      if (!isList && !input.getFields().and) return [];
      const target = input.name.replace(isList ? 'ListFilter' : 'Filter', '');
      const byId = { id: { in: idsThere(target) } };
      return isList
        ? [{ name, filters: [{ [name]: { some: byId } }], negated: [{ [name]: { none: byId } }] }]
        : [{ name, filters: [{ [name]: byId }], negated: [] }];
    },
  );
}

/** The values of a field in the other workspace, without the shared account. */
function foreignIds(typeName: string, field: string): unknown[] {
  const shared = encodeId('user', here.fixture.rows.member[2]?.userAccountId ?? '');
  const values = there.model.all(typeName).map((object: ModelObject) => object[field]);
  return [...new Set(values)].filter((value) => value !== null && value !== shared);
}

async function readIds(list: FieldOf, args: PageArguments): Promise<string[]> {
  const page = await readPage(here, list, parentOfLongestList(here.model, list), {
    first: args.last ? null : 250,
    ...args,
  });
  expect(page.nodes.length).toBeLessThanOrEqual(page.totalCount);
  return page.nodes.map(({ id }) => id);
}

/** A selection of all fields and the first page of all connections. */
function wholeSelection(typeName: string): string {
  const lists = connectionFields.filter(({ parent }) => parent === typeName);
  return `${selectionOf(typeName)} ${lists.map(({ field }) => `${field.name}(first: 250) { nodes { id } }`).join(' ')}`;
}

function uuidsIn(value: unknown): string[] {
  const ids = JSON.stringify(value).match(/\b[a-z]+_[0-7][0-9a-z]{25}\b/g) ?? [];
  return ids.flatMap((id) => parseId(id)?.uuid ?? []);
}

/** Every uuid in the rows of a workspace. */
async function ownUuids(world: World): Promise<Set<string>> {
  const { rows } = await world.read();
  const uuids =
    JSON.stringify(rows).match(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g) ?? [];
  return new Set(uuids);
}
