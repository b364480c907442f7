import { type RevisedTable, lockRevision } from '../../db/revisions.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { raise } from '../errors.ts';
import { idNoun } from '../../model/sentences.ts';
import type { IdPrefix } from '../ids.ts';
import { raiseNotFound, type ResourceName } from '../not-found.ts';

/** The revision that a write expects; null and undefined accept any. */
export type ExpectedRevision = number | null | undefined;

/** The input for a change or deletion of a resource under an issue. */
export interface RevisedResource extends ResourceName {
  expectedRevision?: ExpectedRevision;
}

/** Refuses a write that expects another revision than that of the locked row. */
export function requireRevision(
  prefix: IdPrefix,
  row: { revision: number } | undefined,
  expected: ExpectedRevision,
): void {
  if (expected == null || row?.revision === expected) return;
  const noun = idNoun(prefix);
  raise(
    'precondition_failed',
    `The ${noun} is not at the expected revision. Read it again, and send the change with its current revision.`,
  );
}

/**
 * Does the same for a resource under a locked issue. Its revision is read again, because the row was read before the
 * lock.
 */
export async function requireResourceRevision(
  trx: Trx,
  prefix: keyof typeof tables,
  { id }: { id: string },
  expected: ExpectedRevision,
): Promise<void> {
  if (expected == null) return;
  const row = (await lockRevision(trx, tables[prefix], id)) ?? raiseNotFound(prefix);
  requireRevision(prefix, row, expected);
}

const tables = {
  comment: 'comment',
  link: 'issueLink',
  attachment: 'attachment',
} as const satisfies Partial<Record<IdPrefix, RevisedTable>>;
