import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** A condition of `@skip` or `@include`: a field is selected if the value equals `wanted`. */
export interface Condition {
  readonly value: ValueNode;
  readonly wanted: boolean;
}

/** How selections are visited. */
export interface SelectionVisit {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Whether to leave out a selection and everything in it. */
  readonly isExcluded?: (selection: SelectionNode) => boolean;
  /** Decides at each spread of a fragment whether to visit the fragment; by default it is visited at every spread. */
  readonly enters?: (fragment: string) => boolean;
  /** Called for each field, with the conditions on it and on the fragments around it. */
  readonly field: (node: FieldNode, parent: GraphQLNamedType, conditions: readonly Condition[]) => void;
}

/** Calls `field` for each field of a selection set and of its fragments, but not for the fields below those. */
export function visitSelections(
  visit: SelectionVisit,
  { selections }: SelectionSetNode,
  parent: GraphQLNamedType,
  outer: readonly Condition[] = [],
): void {
  for (const selection of selections) {
    if (visit.isExcluded?.(selection)) continue;
    const conditions = selection.directives?.length
      ? [...outer, ...conditionsOf(selection.directives)]
      : outer;
    if (selection.kind === Kind.FIELD) {
      visit.field(selection, parent, conditions);
      continue;
    }
    const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
    if (isSpread && visit.enters?.(selection.name.value) === false) continue;
    const fragment = isSpread ? visit.fragments.get(selection.name.value) : selection;
    if (!fragment) continue;
    const on = fragment.typeCondition?.name.value;
    const type = (on === undefined ? undefined : visit.schema.getType(on)) ?? parent;
    visitSelections(visit, fragment.selectionSet, type, conditions);
  }
}

/** Whether `@skip` or `@include` leaves out a selection, given the variables. */
export function isExcludedBy(node: SelectionNode, variables: Readonly<Record<string, unknown>>): boolean {
  if (!node.directives?.length) return false;
  const skip = getDirectiveValues(GraphQLSkipDirective, node, variables);
  const include = getDirectiveValues(GraphQLIncludeDirective, node, variables);
  return skip?.if === true || include?.if === false;
}

function conditionsOf(directives: readonly DirectiveNode[]): Condition[] {
  return directives.flatMap(({ name, arguments: [condition] = [] }) =>
    condition && (name.value === 'skip' || name.value === 'include')
      ? [{ value: condition.value, wanted: name.value === 'include' }]
      : [],
  );
}
