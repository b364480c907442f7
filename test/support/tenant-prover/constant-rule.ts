import {
  AliasNode,
  BinaryOperationNode,
  DeleteQueryNode,
  InsertQueryNode,
  type OperationNode,
  ReferenceNode,
  SelectQueryNode,
  TableNode,
} from 'kysely';
import { identifierOf } from '../../../src/db/guard/identifiers.ts';
import { isLeaf, isNode, isQuery, itemsOf, type Query, tableOf } from '../../../src/db/guard/query-nodes.ts';
import { globals } from './bound-rule.ts';
import { conjuncts, isEquals } from './conditions.ts';
import { fold } from './names.ts';
import { columnOf, valueOf } from './one-workspace-rule.ts';
import { isWorkspaceId } from './scopes.ts';

/**
 * The references to tenant tables whose workspace is not compared with a value by a condition of the same query. An equality of
 * two references would prove as much, but a distributed database looks for a value to find the node.
 */
export function withoutConstant(root: OperationNode): string[] {
  const missing: string[] = [];
  const visit = (node: unknown, ctes: ReadonlySet<string>): void => {
    if (Array.isArray(node)) for (const item of node) visit(item, ctes);
    if (!isNode(node) || isLeaf(node)) return;
    const inside = isQuery(node) ? withCtes(node, ctes) : ctes;
    if (isQuery(node)) missing.push(...missingIn(node, inside));
    for (const child of Object.values(node)) visit(child, inside);
  };
  visit(root, new Set());
  return missing;
}

function withCtes(query: Query, ctes: ReadonlySet<string>): ReadonlySet<string> {
  const names = query.with?.expressions.map(({ name }) => fold(identifierOf(name.table))) ?? [];
  return names.length === 0 ? ctes : new Set([...ctes, ...names]);
}

function missingIn(query: Query, ctes: ReadonlySet<string>): string[] {
  const sources = sourcesOf(query);
  const compared = comparedIn(query);
  return sources.flatMap((source) => {
    const table = tableOf(source);
    if (!TableNode.is(table)) return [];
    const name = identifierOf(table);
    if (ctes.has(fold(name)) || globals.has(fold(name))) return [];
    const alias = AliasNode.is(source) ? identifierOf(source.alias) : name;
    if (compared.has(fold(alias)) || (sources.length === 1 && compared.has(unqualified))) return [];
    return [`The workspace of "${alias}" is not compared with a value.`];
  });
}

function sourcesOf(query: Query): readonly OperationNode[] {
  const joined = InsertQueryNode.is(query) ? [] : (query.joins?.map(({ table }) => table) ?? []);
  if (InsertQueryNode.is(query)) return [];
  if (SelectQueryNode.is(query)) return [...(query.from?.froms ?? []), ...joined];
  if (DeleteQueryNode.is(query)) return [...query.from.froms, ...(query.using?.tables ?? []), ...joined];
  return [...itemsOf(query.table), ...(query.from?.froms ?? []), ...joined];
}

const unqualified = '';

/** The aliases whose workspace a condition compares with a value. */
function comparedIn(query: Query): ReadonlySet<string> {
  if (InsertQueryNode.is(query)) return new Set();
  const conditions = [query.where?.where, ...(query.joins?.map(({ on }) => on?.on) ?? [])];
  const aliases = conditions.flatMap((condition) => (condition ? conjuncts(condition) : [])).flatMap(aliasIn);
  return new Set(aliases);
}

function aliasIn(condition: OperationNode): string[] {
  if (!BinaryOperationNode.is(condition) || !isEquals(condition.operator)) return [];
  const { leftOperand, rightOperand } = condition;
  const column = isWorkspaceId(columnOf(leftOperand)) ? leftOperand : rightOperand;
  const value = valueOf(column === leftOperand ? rightOperand : leftOperand);
  if (!value || !isWorkspaceId(columnOf(column))) return [];
  return [ReferenceNode.is(column) && column.table ? fold(identifierOf(column.table)) : unqualified];
}
