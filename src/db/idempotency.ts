import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import { workspaceOf } from './engine/tenant-handle.ts';
import type { NewRow } from './tables/tenant-tables.ts';
import type { Trx } from './engine/transaction.ts';

/** An Idempotency-Key and the account that uses it. */
export type KeyName = Pick<Row<'idempotencyKey'>, 'userAccountId' | 'key'>;

/** Locks a key until the transaction ends, without waiting. Returns false if another transaction has locked it. */
export async function tryLockKey(trx: Trx, { userAccountId, key }: KeyName): Promise<boolean> {
  // A hash of 64 bits does not collide with the other advisory locks of the database.
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

/**
 * The result that was kept for a key after a time. This must be a later statement than the lock: a statement sees only
 * what was committed before it started, and another transaction may release the lock after that.
 */
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

/** Keeps a result, replacing an expired one. */
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

/** Removes the keys of all workspaces that were kept before a time, oldest first. Returns their number. */
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
    // The condition is repeated for the row itself, which may have been replaced since it was found.
    .where('k.createdUtc', '<', before)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
