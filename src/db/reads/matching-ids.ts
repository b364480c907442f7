import type { Predicate } from '../query/conditions/predicate.ts';
import { keyQuery } from '../query/row-queries.ts';
import type { TableName } from '../tables/tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** The given ids whose rows match now. */
export async function selectMatchingIds(
  db: TenantDb,
  table: TableName,
  where: Predicate,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await keyQuery({ db, columns: ['id'] }, table, 'id', where, ids).execute();
  return new Set(rows.map(({ id }) => String(id)));
}
