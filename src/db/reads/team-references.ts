import type { TenantDb } from '../tables/tenant-tables.ts';

/** The teams of the workspace that have one of the codes or ids. */
export async function selectKnownTeams(
  db: TenantDb,
  { codes, ids }: { codes: readonly string[]; ids: readonly string[] },
): Promise<{ code: string; id: string }[]> {
  return db
    .selectFrom('team')
    .select(['code', 'id'])
    .where((eb) =>
      eb.or([eb('code', '=', eb.fn.any(eb.val([...codes]))), eb('id', '=', eb.fn.any(eb.val([...ids])))]),
    )
    .execute();
}
