import {
  astFromValue,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  print,
} from 'graphql';
import { type FieldOf, objectType } from '../graph/schema-walk.ts';
import { type Sample, sampleOf } from './positions.ts';

/** How to get to a type: what stands before and behind the selection of its fields, and the fields on the way. */
export interface SelectionPath {
  prefix: string;
  suffix: string;
  steps: readonly FieldOf[];
}

/** The shortest ways from a root type to every type that its fields lead to; interfaces are no way. */
export function shortestPaths(
  root: 'Query' | 'Mutation' | 'Subscription',
  sample: Sample,
): ReadonlyMap<string, SelectionPath> {
  const paths = new Map<string, SelectionPath>([[root, { prefix: '{ ', suffix: ' }', steps: [] }]]);
  for (const [typeName, path] of paths) {
    for (const field of Object.values(objectType(typeName).getFields())) {
      const target = getNamedType(field.type);
      if (!isObjectType(target) || paths.has(target.name)) continue;
      const step = { parent: typeName, field, coordinate: `${typeName}.${field.name}` };
      paths.set(target.name, {
        prefix: `${path.prefix}${field.name}${requiredArguments(field, sample)} { `,
        suffix: ` }${path.suffix}`,
        steps: [...path.steps, step],
      });
    }
  }
  return paths;
}

/** The way to a type by an id of its own. */
export function pathByNode(typeName: string, id: string): SelectionPath {
  return {
    prefix: `{ node(id: ${JSON.stringify(id)}) { ... on ${typeName} { `,
    suffix: ' } } }',
    steps: [],
  };
}

/** What has to be said to read a field, in parentheses: its required arguments, and one that a variable gives. */
export function requiredArguments(
  field: GraphQLField<unknown, unknown>,
  sample: Sample,
  tried?: { argument: GraphQLArgument; variable: string },
): string {
  const required = field.args.filter((each) => isRequiredArgument(each) && each !== tried?.argument);
  const given = required.map((argument) => {
    const value = astFromValue(internal(argument.type, sampleOf(argument, sample)), argument.type);
    if (!value) throw new Error(`${argument.name} has no literal.`);
    return `${argument.name}: ${print(value)}`;
  });
  if (tried) given.push(`${tried.argument.name}: $${tried.variable}`);
  return given.length > 0 ? `(${given.join(', ')})` : '';
}

/** The smallest selection of a field that shows whether something is there. */
export function below(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  return isLeafType(type) ? '' : ' { __typename }';
}

/** The type is one that `node` opens. */
export function isNodeType(typeName: string): boolean {
  return objectType(typeName)
    .getInterfaces()
    .some(({ name }) => name === 'Node');
}

/** A selection that shows all that a field found, as far as its leaves say it. */
export function wholeSelection(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return '';
  if (isInterfaceType(type)) return ' { __typename id }';
  if (!isObjectType(type)) throw new Error(`The matrix reads no ${String(type)}.`);
  if (type.name.endsWith('Connection')) {
    return ' { totalCount nodes { id } edges { cursor } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }';
  }
  const selected = Object.values(type.getFields())
    .filter(({ args }) => args.length === 0)
    .map((each) => {
      const inner = getNamedType(each.type);
      if (!isObjectType(inner)) return each.name + below(each);
      return inner.getFields().id ? `${each.name} { id }` : `${each.name} { __typename ${leavesOf(inner)} }`;
    });
  return ` { ${selected.join(' ')} }`;
}

function leavesOf(type: GraphQLObjectType): string {
  return Object.values(type.getFields())
    .filter((field) => field.args.length === 0 && isLeafType(getNamedType(field.type)))
    .map(({ name }) => name)
    .join(' ');
}

/** `astFromValue` wants the value that stands behind the name of an enum. */
function internal(type: GraphQLInputType, value: unknown): unknown {
  const named = getNamedType(type);
  if (!isEnumType(named)) return value;
  const one = (name: unknown): unknown => named.getValue(String(name))?.value;
  return Array.isArray(value) ? value.map(one) : one(value);
}
