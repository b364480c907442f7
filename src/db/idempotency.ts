import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import { workspaceOf } from './engine/tenant-handle.ts';
import type { NewRow } from './tables/tenant-tables.ts';
import type { Trx } from './engine/transaction.ts';

/** Whose key it is, and the key. */
export type KeyName = Pick<Row<'idempotencyKey'>, 'userAccountId' | 'key'>;

/** Holds a key until the transaction ends, unless another one holds it: says at once whether it does. */
export async function tryLockKey(trx: Trx, { userAccountId, key }: KeyName): Promise<boolean> {
  // 64 bits of a hash stay clear of the other advisory locks of the database.
  const hash = createHash('sha256')
    .update(`idempotency ${workspaceOf(trx)} ${userAccountId} ${key}`)
    .digest();
  const { taken } = await trx
    .selectNoFrom(
      sql<boolean>`pg_try_advisory_xact_lock(${hash.readBigInt64BE().toString()}::bigint)`.as('taken'),
    )
    .executeTakeFirstOrThrow();
  return taken;
}

/** What is kept under a key since a time. Asked in the lock's own statement it might be missed: that sees no later commit. */
export function selectKept(
  trx: Trx,
  { userAccountId, key }: KeyName,
  since: Date,
): Promise<Pick<Row<'idempotencyKey'>, 'requestHash' | 'result'> | undefined> {
  return trx
    .selectFrom('idempotencyKey')
    .select(['requestHash', 'result'])
    .where('userAccountId', '=', userAccountId)
    .where('key', '=', key)
    .where('createdUtc', '>', since)
    .executeTakeFirst();
}

/** Keeps a result in place of one that is too old to count. */
export async function upsertKept(trx: Trx, row: NewRow<'idempotencyKey'>): Promise<void> {
  const { requestHash, result, createdUtc } = row;
  await trx
    .insertInto('idempotencyKey')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['userAccountId', 'key']).doUpdateSet({ requestHash, result, createdUtc }),
    )
    .execute();
}

/** Removes keys of all workspaces that were kept before a time, oldest first, and says how many. */
export async function removeKeys(unscoped: Kysely<Tables>, before: Date, limit: number): Promise<number> {
  const { numDeletedRows } = await unscoped
    .deleteFrom('idempotencyKey as k')
    .using((eb) =>
      eb
        .selectFrom('idempotencyKey')
        .select(['workspaceId', 'userAccountId', 'key'])
        .where('createdUtc', '<', before)
        .orderBy('createdUtc')
        .limit(limit)
        .as('old'),
    )
    .whereRef('k.workspaceId', '=', 'old.workspaceId')
    .whereRef('k.userAccountId', '=', 'old.userAccountId')
    .whereRef('k.key', '=', 'old.key')
    // Once more, of the row itself: it may have been kept anew since it was found.
    .where('k.createdUtc', '<', before)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
