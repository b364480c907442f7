import { AndNode, BinaryOperationNode, OperatorNode, OrNode, ParensNode } from 'kysely';
import type { JoinType, OperationNode } from 'kysely';
import { imply } from './binding-graph.ts';
import type { Fact } from './binding-graph.ts';
import { workspaceFact } from './scopes.ts';
import type { Scope } from './scopes.ts';

/** Which references a condition filters: only these it can bind. */
export type Filters = (reference: Fact) => boolean;

/** Tells which references the `on` of a join filters: an outer join keeps the rows of one side whatever it says. */
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

/** Adds what the equalities of workspaceId at the top of a condition prove about the references of its query. */
export function bindCondition(condition: OperationNode, scope: Scope, given: Fact, filters: Filters): void {
  const all = conjuncts(condition);
  // Without parentheses round it an `or` takes its neighbours along.
  if (all.some((conjunct) => OrNode.is(conjunct))) return;
  for (const conjunct of all) {
    if (!BinaryOperationNode.is(conjunct) || !isEquals(conjunct.operator)) continue;
    const left = workspaceFact(conjunct.leftOperand, scope, given);
    const right = workspaceFact(conjunct.rightOperand, scope, given);
    if (!left || !right) continue;
    // A condition says nothing about the references of the queries round it.
    if (scope.owns(left) && filters(left)) imply(right, left);
    if (scope.owns(right) && filters(right)) imply(left, right);
  }
}

/** The conditions that all have to hold; what stands inside a parenthesised or, a not or a function is not. */
function conjuncts(condition: OperationNode): OperationNode[] {
  const found: OperationNode[] = [];
  const open = [condition];
  for (let node = open.pop(); node; node = open.pop()) {
    if (AndNode.is(node)) open.push(node.right, node.left);
    else if (ParensNode.is(node) && !OrNode.is(node.node)) open.push(node.node);
    else found.push(node);
  }
  return found;
}

function isEquals(operator: OperationNode): boolean {
  return OperatorNode.is(operator) && operator.operator === '=';
}
