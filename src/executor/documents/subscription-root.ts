import {
  type ASTVisitor,
  type DirectiveNode,
  getEnterLeaveForKind,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type ValidationContext,
} from 'graphql';

/**
 * Refuses `@skip` and `@include` at the root of a subscription, as the GraphQL specification does since September 2025, and
 * otherwise checks what graphql-js checks: that there is one field. Its arguments choose the events, and variables could exclude it
 * from the answer and from the check of scopes.
 */
export function subscriptionRootRule(context: ValidationContext): ASTVisitor {
  const { enter: checkSingleField } = getEnterLeaveForKind(
    SingleFieldSubscriptionsRule(context),
    Kind.OPERATION_DEFINITION,
  );
  return {
    OperationDefinition(node, ...position) {
      if (node.operation !== OperationTypeNode.SUBSCRIPTION) return;
      const conditions = rootConditions(context, node.selectionSet);
      if (conditions.length === 0) {
        checkSingleField?.call(undefined, node, ...position);
        return;
      }
      const message =
        'The field of a subscription cannot have @skip or @include, and neither can a fragment around it.';
      context.reportError(new GraphQLError(message, { nodes: conditions }));
    },
  };
}

/** `@skip` and `@include` on the root fields of an operation, and on the fragments around them. */
function rootConditions(context: ValidationContext, root: SelectionSetNode): DirectiveNode[] {
  const conditions: DirectiveNode[] = [];
  const selectionSets = new Set([root]);
  for (const { selections } of selectionSets) {
    for (const selection of selections) {
      const directives = selection.directives ?? [];
      conditions.push(...directives.filter(({ name }) => name.value === 'skip' || name.value === 'include'));
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? context.getFragment(selection.name.value)?.selectionSet
          : selection.kind === Kind.INLINE_FRAGMENT && selection.selectionSet;
      if (inner) selectionSets.add(inner);
    }
  }
  return conditions;
}
