import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GraphQLField,
  type GraphQLNamedOutputType,
  getNamedType,
  introspectionTypes,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';
import { type FieldOf, objectFields, objectType, planOf } from './schema-walk.ts';
import { dataOf } from './graph-answer.ts';
import { sharedWorld, type SharedWorld } from './shared-world.ts';
import { trendArguments } from './trend-arguments.ts';

// The answer of an operation never exceeds its price. This is checked for every field of the schema.

let world: SharedWorld;
let pathsByType: ReadonlyMap<string, Wrap>;
beforeAll(async () => {
  world = await sharedWorld();
  pathsByType = pathsToTypes();
});
afterAll(() => world.stop());

interface Cost {
  requested: number;
  actual: number;
}

async function costOf(query: string, variables: Record<string, unknown> = {}): Promise<Cost> {
  const sent = { token: world.workspace.token, headers: { 'x-graphql-cost': '1' } };
  const answer = await world.app.graphql(query, variables, sent);
  dataOf(answer);
  return answer.body.extensions?.cost as Cost;
}

/** Wraps a selection on a type in the path from a root to that type. */
type Wrap = (selection: string) => string;

/** The maximum values of `first` that are lower than those of a page. */
const maxSizes: Readonly<Record<string, number>> = { issueTrend: 100 };

/** The required arguments of a field, and its size if it has one, with values in parentheses. */
const argumentsOf = (field: GraphQLField<unknown, unknown>, size: number | undefined): string => {
  const args = field.args.flatMap(({ name, type }) => {
    if (size !== undefined && (name === 'first' || name === 'ids'))
      return name === 'first' ? [`first: ${Math.min(size, maxSizes[field.name] ?? size)}`] : [];
    return isNonNullType(type) ? [`${name}: ${argumentFor(field.name, name)}`] : [];
  });
  return args.length > 0 ? `(${args.join(', ')})` : '';
};

function argumentFor(field: string, name: string): string {
  const days = trendArguments[name];
  if (days) return days;
  if (name === 'groupBy') return '[TEAM, PRIORITY]';
  if (name === 'ids') return JSON.stringify(world.model.all('Issue').map(({ id }) => id));
  const [object] = world.model.all(typeNames[field] ?? 'Issue');
  const key = { issue: object?.key, team: object?.code, project: object?.key }[field] ?? object?.id;
  return JSON.stringify(key);
}

const typeNames: Readonly<Record<string, string>> = { team: 'Team', project: 'Project', member: 'Member' };

/** A minimal selection: `__typename`; for a connection, `__typename` of its nodes. */
function leaf(type: GraphQLNamedOutputType): string {
  return type.name.endsWith('Connection')
    ? '{ totalCount nodes { __typename } edges { node { __typename } } pageInfo { __typename } }'
    : '{ __typename }';
}

/** Finds the shortest path to each object type, breadth first, with large pages. */
function pathsToTypes(): ReadonlyMap<string, Wrap> {
  const pathsByType = new Map<string, Wrap>([['Query', (selection) => `{ ${selection} }`]]);
  for (const [name, wrap] of pathsByType) {
    for (const field of Object.values(objectType(name).getFields())) {
      const target = getNamedType(field.type);
      if (!isObjectType(target) || pathsByType.has(target.name)) continue;
      pathsByType.set(target.name, (selection) =>
        wrap(`${field.name}${argumentsOf(field, 250)} { ${selection} }`),
      );
    }
  }
  return pathsByType;
}

/** Plain lists are priced as five elements, whatever their length: docs/limits.md. */
function isPlainList({ field }: FieldOf): boolean {
  const bare = isNonNullType(field.type) ? field.type.ofType : field.type;
  return isListType(bare) && planOf(field)?.kind === 'list';
}

/** Streams do not report their cost. test/live/subscriptions.test.ts checks what they are charged. */
const subscriptionTypes = new Set(['Subscription', 'IssueListEvent']);

const composites = objectFields.filter(
  (one) =>
    isCompositeType(getNamedType(one.field.type)) &&
    !one.parent.endsWith('Payload') &&
    one.parent !== 'Mutation' &&
    !subscriptionTypes.has(one.parent),
);

describe('every field', () => {
  it.each(composites.map((one) => [one.coordinate, one] as const))(
    '%s gives no more than it is priced',
    async (_name, one) => {
      const wrap = pathsByType.get(one.parent);
      if (!wrap) throw new Error(`No path leads to ${one.parent}.`);
      const sizes = one.field.args.some(({ name }) => name === 'first') ? [undefined, 1, 250] : [undefined];
      for (const size of sizes) {
        const query = wrap(
          `${one.field.name}${argumentsOf(one.field, size)} ${leaf(getNamedType(one.field.type))}`,
        );
        const { requested, actual } = await costOf(query);
        if (isPlainList(one)) expect(requested).toBeGreaterThan(0);
        else expect([query, actual <= requested]).toEqual([query, true]);
      }
    },
  );

  it('can be reached', () => {
    expect(
      composites.filter(({ parent }) => !pathsByType.has(parent)).map(({ coordinate }) => coordinate),
    ).toEqual([]);
    expect(composites.length).toBeGreaterThan(100);
  });
});

/** Whether the declaration of a list says how many elements it has, which the price takes into account. */
const isCounted = ({ field }: FieldOf) => 'rows' in field.extensions;

it('every other list declares its maximum length', () => {
  const lists = objectFields.filter(
    ({ parent, field }) =>
      isListType(isNonNullType(field.type) ? field.type.ofType : field.type) &&
      !/(Connection|Payload)$/.test(parent),
  );
  const silent = lists.filter(
    (one) => !isCounted(one) && !/at most [\d,]+/.test(one.field.description ?? ''),
  );
  expect(silent.map(({ coordinate }) => coordinate)).toEqual([]);
});

/** Selections on each field of the introspection types, down to a leaf, and one level deeper. */
const introspected: readonly string[] = introspectionTypes.filter(isObjectType).flatMap((type) =>
  Object.values(type.getFields())
    .filter((field) => isCompositeType(getNamedType(field.type)))
    .flatMap((field) => {
      const args = field.args.length > 0 ? ['', '(includeDeprecated: true)'] : [''];
      return args.map((literal) => `... on ${type.name} { ${field.name}${literal} { __typename } }`);
    }),
);

const schemaPaths: Readonly<Record<string, Wrap>> = {
  __Schema: (selection) => `{ __schema { ${selection} } }`,
  __Type: (selection) => `{ __schema { types { ${selection} } } }`,
  __Field: (selection) => `{ __schema { types { fields(includeDeprecated: true) { ${selection} } } } }`,
  __InputValue: (selection) =>
    `{ __schema { types { fields { args { ${selection} } } inputFields { ${selection} } } } }`,
  __EnumValue: (selection) => `{ __schema { types { enumValues { ${selection} } } } }`,
  __Directive: (selection) => `{ __schema { directives { ${selection} } } }`,
};

describe('introspection', () => {
  it.each(introspected)('is priced at what it returns or more: %s', async (selection) => {
    const [, type = ''] = /on (\w+)/.exec(selection) ?? [];
    const { requested, actual } = await costOf(schemaPaths[type]?.(selection) ?? '');
    // The price always includes deprecated elements, of which there are few.
    expect(actual).toBeGreaterThan(0);
    expect(actual).toBeLessThanOrEqual(requested);
    expect(requested - actual).toBeLessThan(50);
  });

  it('is priced by the named type, in a literal and in a variable', async () => {
    const below =
      'fields { args { type { name } } type { ofType { fields { name } } } } possibleTypes { name }';
    for (const name of [...Object.keys(schema.getTypeMap()), 'Nothing']) {
      const cost = await costOf(`query ($name: String!) { __type(name: $name) { ${below} } }`, { name });
      expect([name, cost]).toEqual([name, await costOf(`{ __type(name: "${name}") { ${below} } }`)]);
      expect([name, cost.actual <= cost.requested]).toEqual([name, true]);
    }
  });

  it('is priced at what it returns or more, with skipped, repeated and fragment fields', async () => {
    const query = `query ($with: Boolean!) {
      a: __schema { types { ...T } queryType { ...T } }
      b: __schema @include(if: $with) { types { fields { name type { ...T } } } }
    } fragment T on __Type { kind fields @skip(if: $with) { name } enumValues { name } }`;
    for (const withIt of [true, false]) {
      const { requested, actual } = await costOf(query, { with: withIt });
      expect(actual).toBeGreaterThan(100);
      expect(actual).toBeLessThanOrEqual(requested);
    }
  });
});

const groups = ['STATUS', 'STATUS_CATEGORY', 'TEAM', 'PROJECT', 'DELIVERY', 'ASSIGNEE', 'PRIORITY', 'LABEL'];

describe('issueStats', () => {
  const below =
    'count team { id issues(first: 3) { nodes { id } } } assignee { id } status { id } label { id }';

  it.each(
    [[], ...groups.map((one) => [one]), ['PRIORITY', 'STATUS_CATEGORY'], ['LABEL', 'ASSIGNEE', 'STATUS']].map(
      (by) => ({ by }),
    ),
  )('by $by gives no more groups than are priced', async ({ by }) => {
    for (const first of [undefined, null, 1, 5, 1_000]) {
      const query = `query ($by: [IssueStatsGroup!]!, $first: Int) { issueStats(groupBy: $by, first: $first) { ${below} } }`;
      const { requested, actual } = await costOf(query, { by, ...(first !== undefined && { first }) });
      expect([first, actual <= requested]).toEqual([first, true]);
      expect(requested).toBeLessThanOrEqual((first ?? 1_000) * 8);
    }
  });
});
