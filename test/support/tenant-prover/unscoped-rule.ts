import {
  DeleteQueryNode,
  type OperationNode,
  RawNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
} from 'kysely';
import { identifierOf } from '../../../src/db/guard/identifiers.ts';
import { isLeaf, isNode } from '../../../src/db/guard/query-nodes.ts';
import { readRaw } from '../../../src/db/guard/raw-tables.ts';
import { tenantTables } from '../../../src/db/tables/tenant-tables.ts';
import { isLock } from './distribution-rules.ts';
import { fold } from './names.ts';
import { unscopedStatements } from './unscoped-statements.ts';

const tenants: ReadonlySet<string> = new Set(Object.keys(tenantTables).map(fold));

/** Why a module must not send a statement without the handle of a workspace. */
export function unscopedViolations(node: OperationNode, module: string): string[] {
  const tables = [...new Set(tablesIn(node))].filter((table) => tenants.has(table));
  if (tables.length === 0) return [];
  const allowed = unscopedStatements[module];
  const unknown = tables.filter((table) => !allowed?.tables.some((name) => fold(name) === table));
  if (unknown.length > 0)
    return [`${module} sends a statement over ${unknown.join(', ')} without the handle of a workspace.`];
  if (!allowed?.locks && locks(node))
    return [`${module} locks rows of ${tables.join(', ')} without the handle of a workspace.`];
  return [];
}

function tablesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(tablesIn);
  if (!isNode(node)) return [];
  if (TableNode.is(node)) return [fold(identifierOf(node))];
  const named = RawNode.is(node) ? readRaw(node).tables.map(fold) : [];
  return isLeaf(node) ? named : [...named, ...Object.values(node).flatMap(tablesIn)];
}

const lockingText = /\b(?:for (?:no key )?update|for (?:key )?share|update \w+(?: \w+)? set|delete from)\b/i;

/** Whether the statement locks rows: it updates or deletes them, or says so. */
function locks(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(locks);
  if (!isNode(node)) return false;
  if (UpdateQueryNode.is(node) || DeleteQueryNode.is(node)) return true;
  if (RawNode.is(node) && lockingText.test(node.sqlFragments.join(' '))) return true;
  if (SelectQueryNode.is(node) && node.endModifiers?.some(isLock)) return true;
  return !isLeaf(node) && Object.values(node).some(locks);
}
