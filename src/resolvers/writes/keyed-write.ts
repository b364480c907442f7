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

/** For work that a single statement cannot do. */
export function requireTransaction({ keyed }: Context): void {
  if (keyed) throw new NeedsTransaction();
}

/** The row that the write of this request returned when it was done; undefined if it has not been done yet. */
export function earlierRow<Row>({ repeated }: Context): Row | undefined {
  // The cast is safe because only the mutation that stored the row reads it.
  return repeated as Row | undefined;
}
