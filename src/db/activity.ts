import type { Insertable } from 'kysely';
import type { ActivityTable } from './tables/issue-tables.ts';
import type { Trx } from './engine/transaction.ts';

export async function insertActivity(trx: Trx, entries: readonly Insertable<ActivityTable>[]): Promise<void> {
  await trx.insertInto('activity').values(entries).execute();
}
