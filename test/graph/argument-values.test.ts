import { expect, it } from '@jest/globals';
import { buildSchema, type FieldNode, getArgumentValues, GraphQLError, Kind, parse } from 'graphql';
import { argumentReader } from '../../src/executor/inputs/argument-values.ts';

const schema = buildSchema(`
  type Query {
    page(first: Int = 10, after: String, key: ID!, filter: Filter, kinds: [Kind!] = [NEW]): Int
  }
  input Filter { title: String = "none", kinds: [Kind!], inner: Filter }
  enum Kind { NEW OLD }
`);
const field = schema.getQueryType()?.getFields()['page'];
if (!field) throw new Error('The schema has no field `page`.');

/** What a document passes to the field. */
const documents = [
  'key: "a"',
  'key: "a", first: 3, after: null, kinds: [OLD], filter: { title: "x" }',
  'key: $key',
  'key: $key, first: $first, after: $after',
  'key: $key, filter: $filter, kinds: $kinds',
  'key: $key, filter: { title: $after, kinds: [OLD, $kind], inner: { title: $after } }',
  'key: $key, kinds: [$kind]',
  'first: 1',
  'key: null',
  'key: "a", first: "three"',
];
/** Coerced variables. */
const runs: Record<string, unknown>[] = [
  {},
  { key: 'b' },
  { key: null },
  { key: 'b', first: null, after: 'c', kind: 'OLD' },
  { key: 'b', first: 7, after: null, filter: { title: 'y' }, kinds: ['OLD'], kind: null },
  { key: 'b', first: undefined },
];

it.each(documents)('the reader of arguments gives what graphql-js gives (%s)', (document) => {
  const { definitions } = parse(`{ page(${document}) }`);
  const [operation] = definitions;
  const node = (operation?.kind === Kind.OPERATION_DEFINITION &&
    operation.selectionSet.selections[0]) as FieldNode;
  for (const variables of runs) {
    const read = argumentReader(field, node);
    const wanted = result(() => getArgumentValues(field, node, variables));
    // It compiles at the second use.
    for (let use = 1; use <= 3; use++) expect(result(() => read(variables))).toEqual(wanted);
  }
});

/** The arguments with their order, or the message of the error. */
function result(read: () => Record<string, unknown>): unknown {
  try {
    return Object.entries(read());
  } catch (error) {
    expect(error).toBeInstanceOf(GraphQLError);
    return String(error);
  }
}
