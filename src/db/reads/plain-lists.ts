import type { AnyRow } from '../query/any-tables.ts';
import { type ListOrder, listsQuery } from '../query/pages/plain-lists.ts';
import type { ChildSource } from '../query/walks/walk.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** Reads all children of each parent in order, for plain lists of few rows. */
export async function selectLists(
  db: TenantDb,
  source: ChildSource,
  orderBy: readonly ListOrder[],
  parents: readonly string[],
): Promise<Map<string, AnyRow[]>> {
  return groupRows(await listsQuery({ db }, source, orderBy, parents).execute(), parents);
}

function groupRows(rows: readonly AnyRow[], parents: readonly string[]): Map<string, AnyRow[]> {
  const byParent = new Map<string, AnyRow[]>(parents.map((parent) => [parent, []]));
  for (const { parentKey, ...rest } of rows) byParent.get(String(parentKey))?.push(rest);
  return byParent;
}
