import type { Trx } from './engine/transaction.ts';
import type { NewRow } from './tables/tenant-tables.ts';

export async function insertActivity(trx: Trx, entries: readonly NewRow<'activity'>[]): Promise<void> {
  await trx.insertInto('activity').values(entries).execute();
}
