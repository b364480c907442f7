import {
  DeleteQueryNode,
  type OperationNode,
  RawNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
} from 'kysely';
import { identifierOf } from '../../../src/db/guard/identifiers.ts';
import { readRaw } from '../../../src/db/guard/raw-tables.ts';
import { tenantTables } from '../../../src/db/tables/tenant-tables.ts';
import { isLock } from './distribution-rules.ts';
import { fold } from './names.ts';
import { nodesIn } from './nodes.ts';
import { unscopedStatements } from './unscoped-statements.ts';

const tenants: ReadonlySet<string> = new Set(Object.keys(tenantTables).map(fold));

/** Why a module must not send a statement without the handle of a workspace. */
export function unscopedViolations(node: OperationNode, module: string): string[] {
  const nodes = nodesIn(node);
  const tables = [...new Set(tablesIn(nodes))].filter((table) => tenants.has(table));
  if (tables.length === 0) return [];
  const allowed = unscopedStatements[module];
  const unknown = tables.filter((table) => !allowed?.tables.some((name) => fold(name) === table));
  if (unknown.length > 0)
    return [`${module} sends a statement over ${unknown.join(', ')} without the handle of a workspace.`];
  if (!allowed?.locks && nodes.some(locks))
    return [`${module} locks rows of ${tables.join(', ')} without the handle of a workspace.`];
  return [];
}

function tablesIn(nodes: readonly OperationNode[]): string[] {
  return nodes.flatMap((node) => {
    if (TableNode.is(node)) return [fold(identifierOf(node))];
    return RawNode.is(node) ? readRaw(node).tables.map(fold) : [];
  });
}

const lockingText = /\b(?:for (?:no key )?update|for (?:key )?share|update \w+(?: \w+)? set|delete from)\b/i;

/** Whether a node locks rows: it updates or deletes them, or says so. */
function locks(node: OperationNode): boolean {
  if (UpdateQueryNode.is(node) || DeleteQueryNode.is(node)) return true;
  if (RawNode.is(node)) return lockingText.test(node.sqlFragments.join(' '));
  return SelectQueryNode.is(node) && node.endModifiers?.some(isLock) === true;
}
