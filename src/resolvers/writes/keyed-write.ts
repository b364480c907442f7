import type { NewKey } from '../../db/idempotency.ts';
import type { Context } from '../context.ts';

/** A write that is done under an Idempotency-Key by one statement, which stores the key. */
export interface KeyedWrite {
  readonly key: NewKey;
  isDone: boolean;
}

/** Ends the attempt to do a keyed write by one statement, before anything is written; only `executeOnce` sees it. */
export class NeedsTransaction extends Error {
  constructor() {
    super('The write needs a transaction.');
  }
}

/** Throws `NeedsTransaction` in a keyed write, for work that a single statement cannot do. */
export function requireTransaction({ keyed }: Context): void {
  if (keyed) throw new NeedsTransaction();
}

/** The row that the write of this operation returned to an earlier request; undefined if no earlier request did the write. */
export function earlierRow<Row>(ctx: Context): Row | undefined {
  // The cast is safe because only the mutation that stored the row reads it.
  return ctx.earlierRow as Row | undefined;
}
