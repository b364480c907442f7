import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Route } from '../../rest-compat/route.ts';

/**
 * Where a type is used. Fields and arguments are named by their coordinates, such as `Team.issues` and
 * `Query.issues(filter:)`.
 */
export interface TypeUses {
  readonly returnedBy: string[];
  readonly acceptedBy: string[];
  readonly routes: Route[];
}

/** Finds where each type of a schema is used: by fields, by arguments, and by the operations of REST routes. */
export function findUses(schema: GraphQLSchema, routes: readonly Route[]): (type: string) => TypeUses {
  const uses = new Map<string, TypeUses>();
  const usesOf = (type: string): TypeUses => {
    const typeUses = uses.get(type) ?? { returnedBy: [], acceptedBy: [], routes: [] };
    uses.set(type, typeUses);
    return typeUses;
  };
  for (const type of Object.values(schema.getTypeMap())) addFieldUses(type, usesOf);
  for (const route of routes) for (const type of typesOf(schema, route)) usesOf(type).routes.push(route);
  return usesOf;
}

function addFieldUses(type: GraphQLNamedType, usesOf: (type: string) => TypeUses): void {
  if (type.name.startsWith('__')) return;
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields()))
      usesOf(getNamedType(field.type).name).acceptedBy.push(`${type.name}.${field.name}`);
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return;
  for (const field of Object.values(type.getFields())) {
    const namedType = getNamedType(field.type);
    usesOf(namedType.name).returnedBy.push(`${type.name}.${field.name}`);
    const rowType = rowTypeOf(namedType);
    if (rowType) usesOf(rowType).returnedBy.push(`${type.name}.${field.name}`);
    for (const argument of field.args)
      usesOf(getNamedType(argument.type).name).acceptedBy.push(
        `${type.name}.${field.name}(${argument.name}:)`,
      );
  }
}

/** The type of the rows of a connection. */
function rowTypeOf(type: GraphQLNamedType): string | undefined {
  const nodes = isObjectType(type) && type.name.endsWith('Connection') && type.getFields()['nodes'];
  return nodes ? getNamedType(nodes.type).name : undefined;
}

/** The types of all fields and variables of an operation. */
function typesOf(schema: GraphQLSchema, { document }: Route): ReadonlySet<string> {
  const types = new Set<string>();
  const info = new TypeInfo(schema);
  const addType = (type: GraphQLNamedType | undefined) => void (type && types.add(type.name));
  visit(
    document,
    visitWithTypeInfo(info, {
      Field: () => addType(getNamedType(info.getType() ?? undefined)),
      VariableDefinition: () => addType(getNamedType(info.getInputType() ?? undefined)),
    }),
  );
  return types;
}
