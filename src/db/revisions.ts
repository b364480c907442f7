import { untyped } from './query/any-tables.ts';
import type { TableName } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';

/** The tables whose rows belong to an issue and have revisions. */
export type RevisedTable = Extract<TableName, 'comment' | 'issueLink' | 'attachment'>;

/** Locks a row until the transaction ends and returns its revision; undefined if the row is deleted. */
export async function lockRevision(
  trx: Trx,
  table: RevisedTable,
  id: string,
): Promise<{ revision: number } | undefined> {
  const row = await untyped(trx)
    .selectFrom(table)
    .select('revision')
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row && { revision: Number(row['revision']) };
}
