import {
  CommonTableExpressionNode,
  DeleteQueryNode,
  FunctionNode,
  InsertQueryNode,
  OnConflictNode,
  type OperationNode,
  ParensNode,
  RawNode,
  SelectModifierNode,
  SelectQueryNode,
  UpdateQueryNode,
} from 'kysely';
import { nodesIn } from './nodes.ts';

// What a database refuses that is distributed by workspace, and a single PostgreSQL does not.

/** Functions whose result is not the same for the same arguments. A clock is the one that is likely to be written. */
const changing =
  /\b(?:clock_timestamp|statement_timestamp|transaction_timestamp|now|random|gen_random_uuid|nextval|pg_current_xact_id|pg_(?:try_)?advisory\w*)\s*\(|\bcurrent_(?:timestamp|date|time)\b/i;

/** Of those, the functions whose result may change within a statement. */
const volatile = /\b(?:clock_timestamp|random|gen_random_uuid|nextval|pg_(?:try_)?advisory\w*)\s*\(/i;

/** The expressions in `returning` clauses that are not immutable. */
export function changingInReturning(nodes: readonly OperationNode[]): string[] {
  return nodes.flatMap((node) => {
    if (!InsertQueryNode.is(node) && !UpdateQueryNode.is(node) && !DeleteQueryNode.is(node)) return [];
    return nodesIn(node.returning).flatMap((inner) => {
      const text = textOf(inner);
      return changing.test(text) ? [`A returning clause contains ${text.trim()}.`] : [];
    });
  });
}

/** The clocks and random values that an update of rows sets, and what an insert sets where it meets a row. */
export function changingInUpdates(nodes: readonly OperationNode[]): string[] {
  return nodes.flatMap((node) => {
    if (!UpdateQueryNode.is(node) && !OnConflictNode.is(node)) return [];
    const refused = UpdateQueryNode.is(node) ? volatile : changing;
    return nodesIn(node.updates).flatMap((inner) => {
      const text = textOf(inner);
      return refused.test(text) ? [`An update sets ${text.trim()}.`] : [];
    });
  });
}

/** CTEs that lock rows without a subquery, whose results Citus cannot read. */
export function lockingCtes(nodes: readonly OperationNode[]): string[] {
  return nodes.flatMap((node) => {
    if (!CommonTableExpressionNode.is(node)) return [];
    const query = ParensNode.is(node.expression) ? node.expression.node : node.expression;
    if (!SelectQueryNode.is(query) || !query.endModifiers?.some(isLock)) return [];
    return [`The CTE ${node.name.table.table.identifier.name} locks rows: put the query into a subquery.`];
  });
}

/** Whether a modifier at the end of a query locks its rows. */
export function isLock(node: OperationNode): boolean {
  return SelectModifierNode.is(node) && node.modifier?.startsWith('For') === true;
}

/** The text of raw SQL, or the name of a function; nothing for other nodes. */
function textOf(node: OperationNode): string {
  if (RawNode.is(node)) return node.sqlFragments.join(' ');
  return FunctionNode.is(node) ? `${node.func}(` : '';
}
