import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { Plan } from '../../src/schema/builder/plan.ts';
import { schema } from '../../src/schema/index.ts';
import type { ScopeNeed } from '../../src/schema/builder/scopes.ts';

/** A field of an object type with the name of its parent: what tests over the whole schema are made of. */
export interface FieldOf {
  parent: string;
  field: GraphQLField<unknown, unknown>;
  /** The field as the GraphQL specification writes it: `Team.issues`. */
  coordinate: string;
}

/** Every object type that is ours, not introspection's. */
export const objectTypes: readonly GraphQLObjectType[] = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter(({ name }) => !name.startsWith('__'));

/** Every field of every object type. */
export const objectFields: readonly FieldOf[] = objectTypes.flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({
    parent: type.name,
    field,
    coordinate: `${type.name}.${field.name}`,
  })),
);

/** Every field that gives a connection, the roots' among them. */
export const connectionFields: readonly FieldOf[] = objectFields.filter(({ field }) =>
  getNamedType(field.type).name.endsWith('Connection'),
);

/** What a field is, as data; undefined for plain columns and for connection plumbing. */
export function planOf({ extensions }: FieldOf['field']): Plan | undefined {
  return extensions.plan as Plan | undefined;
}

/** What a field needs of its caller. */
export function scopeOf({ extensions }: FieldOf['field']): ScopeNeed | undefined {
  return extensions.scope as ScopeNeed | undefined;
}

/** An object type by name; a test that asks for an absent one is wrong. */
export function objectType(name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`${name} is no object type.`);
  return type;
}

/** An input type by name; a test that asks for an absent one is wrong. */
export function inputType(name: string): GraphQLInputObjectType {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input type.`);
  return type;
}

/** The type of the rows of a connection: `Issue` of `IssueConnection`. */
export function rowTypeOf({ field }: FieldOf): string {
  return getNamedType(field.type).name.replace(/Connection$/, '');
}

/** The fields of a type that answer without arguments, with `id`-like leaves below those that are objects. */
export function selectionOf(typeName: string, leave: readonly string[] = []): string {
  return Object.values(objectType(typeName).getFields())
    .filter(({ name, args }) => args.length === 0 && !leave.includes(name))
    .map(({ name, type }) =>
      isLeafType(getNamedType(type)) ? name : `${name} { ${leavesOf(getNamedType(type).name)} }`,
    )
    .join(' ');
}

/** The id where there is one, else every leaf: enough to know which thing an object is. */
function leavesOf(typeName: string): string {
  const fields = objectType(typeName).getFields();
  if (fields.id) return 'id';
  return Object.values(fields)
    .filter(({ type }) => isLeafType(getNamedType(type)))
    .map(({ name }) => name)
    .join(' ');
}
