import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../db/engine/engine.ts';
import { inSnapshotOfAll } from '../db/engine/database-snapshot.ts';
import type { UnscopedTrx } from '../db/engine/transaction.ts';
import { type Extent, type FaultyRows, selectExtent, selectFaulty, selectRules } from '../db/verify/check.ts';
import type { RuleCodes } from '../db/verify/rule.ts';
import { memberStatus, projectState, statusCategory } from '../model/codes.ts';

/** A rule that is violated, with the rows that violate it. */
export interface Finding extends FaultyRows {
  readonly rule: string;
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of rows that are listed for one rule. Further rows are only counted. */
  readonly limit?: number | undefined;
  /** The only workspace whose rows are checked; rules about rows without a workspace are then left out. */
  readonly workspaceId?: string | undefined;
  /** Called before each rule, with the number of rules that have been checked. */
  readonly onRule?: ((rule: string, done: number, total: number) => void) | undefined;
}

/** The number of checked rules, and the violated ones. */
export interface Verification {
  readonly rules: number;
  readonly findings: Finding[];
}

export const ruleCodes: RuleCodes = {
  activeMember: memberStatus.active,
  activeProject: projectState.active,
  completed: statusCategory.completed,
  canceled: statusCategory.canceled,
};

/** Checks all rules on one snapshot of the database, which may be in use meanwhile. */
export function verifyDatabase(database: Database, options: VerifyOptions = {}): Promise<Verification> {
  return inSnapshotOfAll(database, (trx) => verifyRows(trx, options));
}

/** Checks all rules within a transaction. */
export async function verifyRows(
  trx: UnscopedTrx,
  { signal, limit = 20, workspaceId, onRule }: VerifyOptions = {},
): Promise<Verification> {
  const all = await selectRules(trx, ruleCodes);
  const rules =
    workspaceId === undefined ? all : all.filter(({ checksAllWorkspaces }) => !checksAllWorkspaces);
  const extent: Extent = workspaceId === undefined ? await selectExtent(trx) : [workspaceId];
  const findings: Finding[] = [];
  for (const [index, rule] of rules.entries()) {
    signal?.throwIfAborted();
    onRule?.(rule.name, index, rules.length);
    const faulty = await selectFaulty(trx, rule, limit, extent);
    if (faulty.total > 0) findings.push({ rule: rule.name, ...faulty });
    // The embedded engine runs on this thread; other work gets a turn of the event loop between the rules.
    await nextTurn();
  }
  return { rules: rules.length, findings };
}
