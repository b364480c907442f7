import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
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
  type ValueNode,
} from 'graphql';

/** What `@skip` or `@include` says of a field: it is there when the value is as wanted. */
export interface Condition {
  readonly value: ValueNode;
  readonly wanted: boolean;
}

/** One place in the document that selects a field, with the conditions of all that it stands in. */
export interface Occurrence {
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly conditions: readonly Condition[];
}

/** What one name of a selection gives objects for: those that several fragments select under it are one. */
export interface CostNode {
  readonly key: string;
  readonly occurrences: readonly Occurrence[];
  /** Does each of its parents have a list of them. */
  readonly isList: boolean;
  /** Connections, edges and `pageInfo` only hold rows. */
  readonly isWrapper: boolean;
  readonly below: readonly CostNode[];
}

/** The document that an operation stands in. */
export interface CostSource {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * The objects that an operation selects, whatever its variables: read once for each operation, since documents are
 * kept. The limit of fields bounds what fragments may multiply.
 */
export function costTree(source: CostSource): readonly CostNode[] {
  const known = trees.get(source.operation);
  if (known) return known;
  const root = source.schema.getRootType(source.operation.operation);
  const set = { set: source.operation.selectionSet, type: root, conditions: [] };
  const tree = root ? nodesOf(source, [{ ...set, type: root }]) : [];
  trees.set(source.operation, tree);
  return tree;
}

const trees = new WeakMap<OperationDefinitionNode, readonly CostNode[]>();

/** A selection set on a type, with the conditions of all that it stands in. */
interface Selected {
  readonly set: SelectionSetNode;
  readonly type: GraphQLNamedType;
  readonly conditions: readonly Condition[];
}

function nodesOf(source: CostSource, selected: readonly Selected[]): CostNode[] {
  const byKey = new Map<string, Occurrence[]>();
  for (const one of selected) collect(source, one, byKey);
  return [...byKey].map(([key, occurrences]) => {
    const types = occurrences.map(({ field }) => field.type);
    return {
      key,
      occurrences,
      isList: types.some((type) => isListType(isNonNullType(type) ? type.ofType : type)),
      isWrapper: types.every((type) => wrapper.test(getNamedType(type).name)),
      below: nodesOf(source, occurrences.flatMap(selectionOf)),
    };
  });
}

/** The names that Relay's specification of connections gives. */
const wrapper = /(Connection|Edge)$|^PageInfo$/;

function selectionOf({ node, field, conditions }: Occurrence): Selected[] {
  return node.selectionSet ? [{ set: node.selectionSet, type: getNamedType(field.type), conditions }] : [];
}

function collect(source: CostSource, selected: Selected, byKey: Map<string, Occurrence[]>): void {
  for (const selection of selected.set.selections) {
    const conditions = [...selected.conditions, ...conditionsOf(selection.directives)];
    if (selection.kind === Kind.FIELD) {
      const field = fieldOf(source.schema, selected.type, selection.name.value);
      if (!field || !isCompositeType(getNamedType(field.type))) continue;
      const key = selection.alias?.value ?? selection.name.value;
      const occurrences = byKey.get(key) ?? [];
      byKey.set(key, occurrences);
      occurrences.push({ node: selection, field, conditions });
      continue;
    }
    const spread =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : source.fragments.get(selection.name.value);
    if (!spread) continue;
    const on = spread.typeCondition?.name.value;
    const type = (on === undefined ? undefined : source.schema.getType(on)) ?? selected.type;
    collect(source, { set: spread.selectionSet, type, conditions }, byKey);
  }
}

function conditionsOf(directives: readonly DirectiveNode[] | undefined): Condition[] {
  return (directives ?? []).flatMap(({ name, arguments: [condition] = [] }) =>
    condition && (name.value === 'skip' || name.value === 'include')
      ? [{ value: condition.value, wanted: name.value === 'include' }]
      : [],
  );
}

function fieldOf(schema: GraphQLSchema, type: GraphQLNamedType, name: string) {
  if (type === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}
