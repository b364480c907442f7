import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import type { TenantDb } from './tables/tenant-tables.ts';

/** The secrets of a webhook, encrypted; the previous one if it was ever changed. */
type StoredSecrets = Pick<Row<'webhook'>, 'id' | 'secret' | 'previousSecret'>;

/** The webhooks of all workspaces with a secret that begins with one of these key ids. */
export async function selectSecretsUnder(
  unscoped: Kysely<Tables>,
  keyIds: readonly Buffer[],
  limit: number,
): Promise<(StoredSecrets & Pick<Row<'webhook'>, 'workspaceId'>)[]> {
  const ids = sql.join(keyIds.map((id) => sql`${id}::bytea`));
  return unscoped
    .selectFrom('webhook as w')
    .select(['w.workspaceId', 'w.id', 'w.secret', 'w.previousSecret'])
    .where('w.deletedUtc', 'is', null)
    .where(
      sql<boolean>`(substring(w.secret from 1 for 4) in (${ids}) or substring(w.previous_secret from 1 for 4) in (${ids}))`,
    )
    .limit(limit)
    .execute();
}

/**
 * Replaces the secrets of a webhook if they are still the ones that were read. Its revision stays, because nothing that
 * its members see has changed. Returns whether they were replaced.
 */
export async function replaceSecrets(
  db: TenantDb,
  read: StoredSecrets,
  replaced: Omit<StoredSecrets, 'id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook')
    .set({ secret: replaced.secret, previousSecret: replaced.previousSecret })
    .where('id', '=', read.id)
    .where('secret', '=', read.secret)
    .where('previousSecret', 'is not distinct from', read.previousSecret)
    .where('deletedUtc', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0;
}
