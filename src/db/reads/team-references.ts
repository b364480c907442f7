import type { TenantDb } from '../tables/tenant-tables.ts';

/** The codes and ids, of those given, that belong to a team of the workspace. */
export async function selectKnownTeams(
  db: TenantDb,
  named: { codes: readonly string[]; ids: readonly string[] },
): Promise<{ code: string; id: string }[]> {
  return db
    .selectFrom('team')
    .select(['code', 'id'])
    .where((eb) =>
      eb.or([
        eb('code', '=', eb.fn.any(eb.val([...named.codes]))),
        eb('id', '=', eb.fn.any(eb.val([...named.ids]))),
      ]),
    )
    .execute();
}
