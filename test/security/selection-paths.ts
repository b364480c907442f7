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

/** A path from a root to a type: the text before and after the selection of its fields, and the fields on the path. */
export interface SelectionPath {
  prefix: string;
  suffix: string;
  steps: readonly FieldOf[];
}

/** Finds the shortest path from a root type to every type that can be reached, without passing interfaces. */
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

/** The path to an object by `node(id)`. */
export function pathByNode(typeName: string, id: string): SelectionPath {
  return {
    prefix: `{ node(id: ${JSON.stringify(id)}) { ... on ${typeName} { `,
    suffix: ' } } }',
    steps: [],
  };
}

/** The argument list of a field: its required arguments, and optionally one argument with a variable as its value. */
export function requiredArguments(
  field: GraphQLField<unknown, unknown>,
  sample: Sample,
  tried?: { argument: GraphQLArgument; variable: string },
): string {
  const required = field.args.filter((each) => isRequiredArgument(each) && each !== tried?.argument);
  const args = required.map((argument) => {
    const value = astFromValue(internal(argument.type, sampleOf(argument, sample)), argument.type);
    if (!value) throw new Error(`${argument.name} has no literal.`);
    return `${argument.name}: ${print(value)}`;
  });
  if (tried) args.push(`${tried.argument.name}: $${tried.variable}`);
  return args.length > 0 ? `(${args.join(', ')})` : '';
}

/** The smallest selection that shows whether a field has a value. */
export function below(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  return isLeafType(type) ? '' : ' { __typename }';
}

/** Whether the type implements Node. */
export function isNodeType(typeName: string): boolean {
  return objectType(typeName)
    .getInterfaces()
    .some(({ name }) => name === 'Node');
}

/** A selection that shows the whole value of a field, as far as scalars and ids go. */
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

/** `astFromValue` takes the internal value of an enum, not its name. */
function internal(type: GraphQLInputType, value: unknown): unknown {
  const named = getNamedType(type);
  if (!isEnumType(named)) return value;
  const one = (name: unknown): unknown => named.getValue(String(name))?.value;
  return Array.isArray(value) ? value.map(one) : one(value);
}
