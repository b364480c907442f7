import { untyped } from './query/any-tables.ts';
import type { TableName } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';

/** The tables of things that hang on an issue and count their changes. */
export type RevisedTable = Extract<TableName, 'comment' | 'issueLink' | 'attachment'>;

/** The revision of a living row, which nobody else changes before the transaction ends; undefined when it is deleted. */
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
