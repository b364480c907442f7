import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../db/engine/engine.ts';
import { inSnapshot } from '../db/engine/snapshot.ts';
import type { UnscopedTrx } from '../db/engine/transaction.ts';
import { type FaultyRows, selectFaulty, selectRules } from '../db/verify/check.ts';
import type { RuleCodes } from '../db/verify/rule.ts';
import { memberStatus, projectState, statusCategory } from '../model/codes.ts';

/** A rule that does not hold, and of what. */
export interface Finding extends FaultyRows {
  readonly rule: string;
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Findings of one rule that are told; more are counted. */
  readonly limit?: number | undefined;
}

/** What was found, and how many rules were asked. */
export interface Verified {
  readonly rules: number;
  readonly findings: Finding[];
}

export const ruleCodes: RuleCodes = {
  activeMember: memberStatus.active,
  activeProject: projectState.active,
  completed: statusCategory.completed,
  canceled: statusCategory.canceled,
};

/** Holds every rule of the rows against one snapshot of the database, which may be in use. */
export function verifyDatabase(database: Database, options: VerifyOptions = {}): Promise<Verified> {
  return inSnapshot(database, (trx) => verifyRows(trx, options));
}

/** The same within a transaction. */
export async function verifyRows(
  trx: UnscopedTrx,
  { signal, limit = 20 }: VerifyOptions = {},
): Promise<Verified> {
  const rules = await selectRules(trx, ruleCodes);
  const findings: Finding[] = [];
  for (const rule of rules) {
    signal?.throwIfAborted();
    const faulty = await selectFaulty(trx, rule, limit);
    if (faulty.total > 0) findings.push({ rule: rule.name, ...faulty });
    // The embedded engine computes on this thread.
    await nextTurn();
  }
  return { rules: rules.length, findings };
}
