import { type RevisedTable, lockRevision } from '../../db/revisions.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { raise } from '../errors.ts';
import { idNoun, type IdPrefix } from '../ids.ts';
import { thingIsGone, type ThingName } from '../issues/issue-locks.ts';

/** The revision that a write is meant for; without one it is meant for whatever is there. */
export type ExpectedRevision = number | null | undefined;

/** What a client says to change or delete something that hangs on an issue. */
export interface RevisedThing extends ThingName {
  expectedRevision?: ExpectedRevision;
}

/** Refuses a write that is meant for another revision than that of the locked row. */
export function requireRevision(
  prefix: IdPrefix,
  row: { revision: number } | undefined,
  expected: ExpectedRevision,
): void {
  if (expected == null || row?.revision === expected) return;
  const noun = idNoun(prefix);
  raise(
    'precondition_failed',
    `The ${noun} is not at the revision that was named. Read it again, and send the change with the revision that it has then.`,
  );
}

/** The same for something that hangs on an issue, which is locked as well: it was read before its issue was. */
export async function requireThingRevision(
  trx: Trx,
  prefix: keyof typeof tables,
  { id }: { id: string },
  expected: ExpectedRevision,
): Promise<void> {
  if (expected == null) return;
  const row = (await lockRevision(trx, tables[prefix], id)) ?? thingIsGone(prefix);
  requireRevision(prefix, row, expected);
}

const tables = {
  comment: 'comment',
  link: 'issueLink',
  attachment: 'attachment',
} as const satisfies Partial<Record<IdPrefix, RevisedTable>>;
