import { AndNode, BinaryOperationNode, OperatorNode, OrNode, ParensNode } from 'kysely';
import type { JoinType, OperationNode } from 'kysely';
import { imply } from './binding-graph.ts';
import type { Fact } from './binding-graph.ts';
import { workspaceFact } from './scopes.ts';
import type { Scope } from './scopes.ts';

/** Tells which references a condition filters. It can bind no others. */
export type Filters = (reference: Fact) => boolean;

/** Tells which references the `on` of a join filters: an outer join keeps all rows of one side. */
export function filtersOf(joinType: JoinType, joined: Fact): Filters {
  switch (joinType) {
    case 'InnerJoin':
    case 'LateralInnerJoin':
      return () => true;
    case 'LeftJoin':
    case 'LateralLeftJoin':
      return (reference) => reference === joined;
    case 'RightJoin':
      return (reference) => reference !== joined;
    case 'FullJoin':
    case 'CrossJoin':
    case 'LateralCrossJoin':
    case 'CrossApply':
    case 'OuterApply':
    case 'Using':
      return () => false;
  }
}

/** Adds what a condition's top-level equalities of workspaceId prove about the references of its query. */
export function bindCondition(condition: OperationNode, scope: Scope, axiom: Fact, filters: Filters): void {
  const all = conjuncts(condition);
  // Without parentheses around it, an `or` also covers the conditions next to it.
  if (all.some((conjunct) => OrNode.is(conjunct))) return;
  for (const conjunct of all) {
    if (!BinaryOperationNode.is(conjunct) || !isEquals(conjunct.operator)) continue;
    const left = workspaceFact(conjunct.leftOperand, scope, axiom);
    const right = workspaceFact(conjunct.rightOperand, scope, axiom);
    if (!left || !right) continue;
    // A condition does not filter the references of the surrounding queries.
    if (scope.owns(left) && filters(left)) imply(right, left);
    if (scope.owns(right) && filters(right)) imply(left, right);
  }
}

/** The conditions that all have to hold: not those inside a parenthesised `or`, a `not` or a function. */
export function conjuncts(condition: OperationNode): OperationNode[] {
  const found: OperationNode[] = [];
  const open = [condition];
  for (let node = open.pop(); node; node = open.pop()) {
    if (AndNode.is(node)) open.push(node.right, node.left);
    else if (ParensNode.is(node) && !OrNode.is(node.node)) open.push(node.node);
    else found.push(node);
  }
  return found;
}

export function isEquals(operator: OperationNode): boolean {
  return OperatorNode.is(operator) && operator.operator === '=';
}
