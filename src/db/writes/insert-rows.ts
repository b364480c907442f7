import { untyped } from '../query/any-tables.ts';
import type { Trx } from '../engine/transaction.ts';
import type { TableName } from '../tables/tables.ts';
import type { NewRow } from '../tables/tenant-tables.ts';

/** The rows in one statement, which keeps it far below the 65,535 parameters that the protocol allows. */
const rowsPerStatement = 500;

/** The rows in slices, each for a statement of its own. */
export function slicesOf<Row>(rows: readonly Row[], size = rowsPerStatement): (readonly Row[])[] {
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, index) => rows.slice(index * size, (index + 1) * size));
}

/** Inserts any number of rows of one table. */
export async function insertRows<Name extends TableName>(
  trx: Trx,
  table: Name,
  rows: readonly NewRow<Name>[],
): Promise<void> {
  for (const slice of slicesOf(rows)) await untyped(trx).insertInto(table).values(slice).execute();
}
