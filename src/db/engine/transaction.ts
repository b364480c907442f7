import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresDialect, type Transaction } from 'kysely';
import type { Database } from './engine.ts';
import type { BorrowedConnection } from './borrowed-connection.ts';
import { meter } from './meter.ts';
import type { ConnectedTarget, StatementTarget } from './statement-target.ts';
import type { Tables } from '../tables/tables.ts';
import type { TenantDb, TenantTrx } from '../tables/tenant-tables.ts';
import { tenantHandle, unscopedHandle, workspaceOf } from './tenant-handle.ts';

/** A transaction of a workspace. Its work must not use another handle: the embedded engine has only one connection. */
export type Trx = TenantTrx;

/** A transaction without a workspace. */
export type UnscopedTrx = Transaction<Tables>;

/** The target that sends prepared statements through a transaction. */
export function transactionTarget(trx: Trx): StatementTarget {
  return { db: trx, connect: undefined };
}

/**
 * How often a transaction that failed because of another one is retried, by SQLSTATE. A foreign key is violated only when a
 * row was deleted after the transaction had checked it, so the second run finds it missing and tells the client.
 */
const maxRetries: Readonly<Record<string, number>> = { '40001': 3, '40P01': 3, '23503': 1 };

/**
 * Runs the work in one transaction and commits it. The work may run several times, so it must not keep state between runs. If
 * `db` is a transaction already, the work becomes a part of it and is not retried by itself.
 */
export async function inTransaction<Result>(
  db: TenantDb,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction) return work(db as Trx);
  const result = await withRetry(() => db.transaction().execute((trx) => work(trx as Trx)));
  meter()?.deadline?.committed();
  return result;
}

/** Runs work in a transaction without a workspace, for the work that creates one. */
export function inUnscopedTransaction<Result>(
  { unscoped }: Pick<Database, 'unscoped'>,
  work: (trx: UnscopedTrx) => Promise<Result>,
): Promise<Result> {
  return withRetry(() => unscoped.transaction().execute(work));
}

/** Sends prepared statements in one transaction, which is not retried. */
export async function inOneTransaction<Result>(
  { db, connect }: StatementTarget,
  work: (target: StatementTarget) => Promise<Result>,
): Promise<Result> {
  if (!connect) return work({ db, connect });
  const connection = await connect();
  return inTransactionOn(connection, () =>
    work({ db, connect: () => Promise.resolve(connection.withoutRelease()) }),
  );
}

/**
 * Runs reads that all see the database as it is at the first of them. All of them, including those of the handle, use
 * one connection. The first read borrows it, so work that reads nothing needs none.
 */
export async function inSnapshot<Result>(
  { db, connect }: ConnectedTarget,
  work: (snapshot: ConnectedTarget) => Promise<Result>,
): Promise<Result> {
  let opening: Promise<BorrowedConnection> | undefined;
  let hasEnded = false;
  // Some of the concurrent work may continue after other work has failed, when the connection is already lent to
  // another caller.
  const requireOpen = () => {
    if (hasEnded) throw new Error('The snapshot has ended.');
  };
  const lend = async () => {
    requireOpen();
    opening ??= openSnapshot(connect);
    const connection = await opening;
    requireOpen();
    return connection.withoutRelease();
  };
  const pool = { connect: lend, end: () => Promise.resolve(), options: {} };
  const handle = tenantHandle(unscopedHandle(new PostgresDialect({ pool })), workspaceOf(db));
  try {
    return await work({ db: handle, connect: lend });
  } finally {
    hasEnded = true;
    const connection = await opening?.catch(() => undefined);
    if (connection) await endSnapshot(connection);
  }
}

async function openSnapshot(connect: ConnectedTarget['connect']): Promise<BorrowedConnection> {
  const connection = await connect();
  try {
    await connection.query('begin isolation level repeatable read read only', []);
    return connection;
  } catch (error) {
    await endSnapshot(connection);
    throw error;
  }
}

async function endSnapshot(connection: BorrowedConnection): Promise<void> {
  // After a failed statement this rolls back, which makes no difference to reads. If the connection was lost, the
  // server has ended the transaction already.
  await connection.query('commit', []).catch(() => undefined);
  connection.release();
}

/** Runs work in one transaction of a connection, commits it, and gives the connection back. */
export async function inTransactionOn<Result>(
  connection: BorrowedConnection,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    await connection.query('begin', []);
    const result = await work();
    await connection.query('commit', []);
    return result;
  } catch (error) {
    // A lost connection has rolled back already.
    await connection.query('rollback', []).catch(() => undefined);
    throw error;
  } finally {
    connection.release();
  }
}

/** Runs a transaction or a single statement, and retries it if it fails because of another transaction. */
export async function withRetry<Result>(work: () => Promise<Result>): Promise<Result> {
  const retriesUsed = new Map<string, number>();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const state = sqlState(error);
      const earlier = retriesUsed.get(state) ?? 0;
      if (earlier >= (maxRetries[state] ?? 0)) throw error;
      retriesUsed.set(state, earlier + 1);
      await sleep(Math.random() * 10 * 2 ** earlier);
    }
  }
}

export function isForeignKeyViolation(error: unknown): boolean {
  return sqlState(error) === '23503';
}

/** Whether a lock was not free in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
