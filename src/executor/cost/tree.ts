import {
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { leafListValues } from '../limits.ts';
import type { Operation } from '../selections/operation.ts';
import { isWrapper } from '../selections/wrapper-types.ts';
import { type Condition, visitSelections } from '../selections/visit-selections.ts';

/** One selection of a field in the document, with the conditions on it and on the selections around it. */
export interface Occurrence {
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly conditions: readonly Condition[];
}

/** The objects under one response name; several fragments may select fields of them. */
export interface CostNode {
  readonly responseName: string;
  readonly occurrences: readonly Occurrence[];
  /** Whether each parent has a list of them. */
  readonly isList: boolean;
  /** Set for connections, edges and `pageInfo`, which hold rows and cost nothing themselves. */
  readonly isWrapper: boolean;
  readonly isConnection: boolean;
  /** The schema, if the field is `__schema` or `__type`. */
  readonly introspectedSchema: GraphQLSchema | undefined;
  /** The fields of the object without a selection, one for each response name. */
  readonly leaves: readonly Leaf[];
  readonly below: readonly CostNode[];
}

/** A field without a selection; it is answered when the conditions of one of its occurrences hold. */
interface Leaf {
  readonly isList: boolean;
  readonly occurrences: readonly (readonly Condition[])[];
}

/**
 * The objects that an operation selects, for any variables. The tree is made once for each operation, since documents
 * are cached. The limit on fields bounds how far fragments multiply them.
 */
export function costTree(source: Operation): readonly CostNode[] {
  const known = trees.get(source.operation);
  if (known) return known;
  const root = source.schema.getRootType(source.operation.operation);
  const set = { set: source.operation.selectionSet, type: root, conditions: [] };
  const tree = root ? selectedIn(source, [{ ...set, type: root }]).below : [];
  trees.set(source.operation, tree);
  return tree;
}

const trees = new WeakMap<OperationDefinitionNode, readonly CostNode[]>();

/** A selection set on a type, with the conditions on the selections around it. */
interface TypedSelection {
  readonly set: SelectionSetNode;
  readonly type: GraphQLNamedType;
  readonly conditions: readonly Condition[];
}

/** The fields of a selection by their response names. */
interface CollectedFields {
  readonly objects: Map<string, Occurrence[]>;
  readonly leaves: Map<string, { isList: boolean; occurrences: (readonly Condition[])[] }>;
}

function selectedIn(
  source: Operation,
  selected: readonly TypedSelection[],
): Pick<CostNode, 'leaves' | 'below'> {
  const collected: CollectedFields = { objects: new Map(), leaves: new Map() };
  for (const one of selected) collect(source, one, collected);
  const below = [...collected.objects].map(([responseName, occurrences]): CostNode => {
    const types = occurrences.map(({ field }) => field.type);
    return {
      responseName,
      occurrences,
      isList: types.some(isList),
      isWrapper: types.every((type) => isWrapper(getNamedType(type))),
      isConnection: types.some((type) => getNamedType(type).name.endsWith('Connection')),
      introspectedSchema: occurrences.some(({ field }) => describesSchema(field)) ? source.schema : undefined,
      ...selectedIn(source, occurrences.flatMap(selectionOf)),
    };
  });
  return { leaves: [...collected.leaves.values()], below };
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

function describesSchema(field: GraphQLField<unknown, unknown>): boolean {
  return field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
}

function selectionOf({ node, field, conditions }: Occurrence): TypedSelection[] {
  return node.selectionSet ? [{ set: node.selectionSet, type: getNamedType(field.type), conditions }] : [];
}

function collect(source: Operation, selected: TypedSelection, { objects, leaves }: CollectedFields): void {
  const field = (node: FieldNode, parent: GraphQLNamedType, conditions: readonly Condition[]) => {
    const found = fieldOf(source.schema, parent, node.name.value);
    const key = node.alias?.value ?? node.name.value;
    if (found && isCompositeType(getNamedType(found.type))) {
      getOrAdd(objects, key, () => []).push({ node, field: found, conditions });
      return;
    }
    const list = found !== undefined && isList(found.type);
    getOrAdd(leaves, key, () => ({ isList: list, occurrences: [] })).occurrences.push(conditions);
  };
  const { schema, fragments } = source;
  visitSelections({ schema, fragments, field }, selected.set, selected.type, selected.conditions);
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

/** Whether `@skip` and `@include` keep a field. */
export function isIncluded(conditions: readonly Condition[], variables: Record<string, unknown>): boolean {
  return conditions.every(({ value, wanted }) => {
    if (value.kind === Kind.VARIABLE) return variables[value.name.value] === wanted;
    return value.kind !== Kind.BOOLEAN || value.value === wanted;
  });
}

/** The number of values in the leaves of one object. */
export function leavesOf({ leaves }: Pick<CostNode, 'leaves'>, variables: Record<string, unknown>): number {
  let values = 0;
  for (const { isList: many, occurrences } of leaves) {
    if (occurrences.some((conditions) => isIncluded(conditions, variables)))
      values += many ? leafListValues : 1;
  }
  return values;
}

function fieldOf(schema: GraphQLSchema, type: GraphQLNamedType, name: string) {
  if (type === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}
