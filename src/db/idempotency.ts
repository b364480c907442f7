import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Row, Tables } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import { PreparedSelect, StatementsByForm } from './query/prepared-select.ts';
import type { StatementTarget } from './engine/statement-target.ts';
import { recordset } from './writes/write-parts.ts';
import { fromSql } from './tables/sql-names.ts';
import { columnTypes } from '../model/issue-columns.ts';

/** An Idempotency-Key and the account that uses it. */
export type KeyName = Pick<Row<'idempotencyKey'>, 'userAccountId' | 'key'>;

/** A key that comes with a request. */
export interface NewKey extends KeyName {
  readonly requestHash: Buffer;
  readonly createdUtc: Date;
  /** The number of its advisory lock. */
  readonly lock: string;
}

/** The number of the advisory lock on a key. */
export function advisoryLockOf(workspaceId: string, { userAccountId, key }: KeyName): string {
  // A hash of 64 bits does not collide with the other advisory locks of the database.
  const hash = createHash('sha256').update(`idempotency ${workspaceId} ${userAccountId} ${key}`).digest();
  return hash.readBigInt64BE().toString();
}

/** Locks a key until the transaction ends, without waiting. Returns false if another transaction has locked it. */
export async function tryLockKey(trx: Trx, { lock }: NewKey): Promise<boolean> {
  const { taken } = await trx
    .selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(${lock}::bigint)`.as('taken'))
    .executeTakeFirstOrThrow();
  return taken;
}

/** Whether a write failed because another request had just kept the same key. */
export function isKeptAlready(error: unknown): boolean {
  const { code, constraint } = Object(error) as { code?: unknown; constraint?: unknown };
  return code === '23505' && constraint === 'idempotency_key_pkey';
}

/**
 * The result that was stored for a key after a given time. This must be a later statement than the lock: a statement
 * sees only what was committed before it started, and another transaction may release the lock after that.
 */
export function selectKept(
  trx: Trx,
  { userAccountId, key }: KeyName,
  since: Date,
): Promise<Pick<Row<'idempotencyKey'>, 'requestHash' | 'result' | 'written' | 'createdUtc'> | undefined> {
  return trx
    .selectFrom('idempotencyKey')
    .select(['requestHash', 'result', 'written', 'createdUtc'])
    .where('userAccountId', '=', userAccountId)
    .where('key', '=', key)
    .where('createdUtc', '>', since)
    .executeTakeFirst();
}

/** Keeps a result, replacing an expired one. */
export async function upsertKept(
  trx: Trx,
  { userAccountId, key, requestHash, createdUtc }: NewKey,
  result: string,
): Promise<void> {
  const set = { requestHash, result, written: null, createdUtc };
  await trx
    .insertInto('idempotencyKey')
    .values({ userAccountId, key, ...set })
    .onConflict((conflict) => conflict.columns(['userAccountId', 'key']).doUpdateSet(set))
    .execute();
}

/** An answer to keep under the key of the write that is done. */
export interface NewAnswer extends KeyName {
  readonly createdUtc: Date;
  readonly result: string;
}

/** Adds the answers to keys that have none yet; the rows that were written are no longer needed. */
export async function addAnswers(target: StatementTarget, answers: readonly NewAnswer[]): Promise<void> {
  const rows = answers.map(({ userAccountId: account, key, createdUtc: at, result }) => ({
    account,
    key,
    at,
    result,
  }));
  await answerStatements.send(target, {}, { answers: JSON.stringify(rows) });
}

const answerColumns = { account: 'uuid', key: 'text', at: 'timestamptz', result: 'text' };

const answerStatements = new StatementsByForm<object, KeyName>((db) => {
  const answers = recordset<NewAnswer & { account: string; at: Date }, 'one'>(
    'answers',
    'one',
    answerColumns,
  );
  const update = db
    .updateTable('idempotencyKey')
    .from(answers)
    .set({ result: sql.ref('one.result'), written: null })
    .whereRef('idempotencyKey.userAccountId', '=', 'one.account')
    .whereRef('idempotencyKey.key', '=', 'one.key')
    .whereRef('idempotencyKey.createdUtc', '=', 'one.at')
    .where('idempotencyKey.result', 'is', null)
    .returning(['idempotencyKey.userAccountId', 'idempotencyKey.key']);
  return new PreparedSelect(update, ['userAccountId', 'key']);
});

/** The row that a write kept, as its statement returned it. */
export function rowOf(written: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(written).map(([sqlName, value]) => {
      const column = fromSql(sqlName);
      const type = Object.hasOwn(columnTypes, column) ? columnTypes[column as keyof typeof columnTypes] : '';
      return [column, type === 'timestamptz' && typeof value === 'string' ? new Date(value) : value];
    }),
  );
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
