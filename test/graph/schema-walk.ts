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

/** A field of an object type with the name of the type, for tests over the whole schema. */
export interface FieldOf {
  parent: string;
  field: GraphQLField<unknown, unknown>;
  /** The schema coordinate, such as `Team.issues`. */
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

/** Every field that returns a connection, including roots. */
export const connectionFields: readonly FieldOf[] = objectFields.filter(({ field }) =>
  getNamedType(field.type).name.endsWith('Connection'),
);

/** The plan of a field; undefined for plain columns and for the fields of connections and edges. */
export function planOf({ extensions }: FieldOf['field']): Plan | undefined {
  return extensions.plan as Plan | undefined;
}

/** The scope that a field needs. */
export function scopeOf({ extensions }: FieldOf['field']): ScopeNeed | undefined {
  return extensions.scope as ScopeNeed | undefined;
}

/** Returns an object type by name, and throws if it does not exist. */
export function objectType(name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`${name} is not an object type.`);
  return type;
}

/** Returns an input type by name, and throws if it does not exist. */
export function inputType(name: string): GraphQLInputObjectType {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is not an input type.`);
  return type;
}

/** The type of the rows of a connection: `Issue` of `IssueConnection`. */
export function rowTypeOf({ field }: FieldOf): string {
  return getNamedType(field.type).name.replace(/Connection$/, '');
}

/** A selection of the fields of a type that need no arguments, with the ids or leaves of objects. */
export function selectionOf(typeName: string, leave: readonly string[] = []): string {
  return Object.values(objectType(typeName).getFields())
    .filter(({ name, args }) => args.length === 0 && !leave.includes(name))
    .map(({ name, type }) =>
      isLeafType(getNamedType(type)) ? name : `${name} { ${leavesOf(getNamedType(type).name)} }`,
    )
    .join(' ');
}

/** The id if the type has one, else every leaf: enough to identify an object. */
function leavesOf(typeName: string): string {
  const fields = objectType(typeName).getFields();
  if (fields.id) return 'id';
  return Object.values(fields)
    .filter(({ type }) => isLeafType(getNamedType(type)))
    .map(({ name }) => name)
    .join(' ');
}
