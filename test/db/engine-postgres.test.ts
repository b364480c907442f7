import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type QueryExecutorProvider, sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { inSnapshotOfAll } from '../../src/db/engine/database-snapshot.ts';
import { inSnapshot, inTransaction, inUnscopedTransaction } from '../../src/db/engine/transaction.ts';
import { withMeter } from '../../src/db/engine/meter.ts';
import { Deadline } from '../../src/db/engine/deadline.ts';
import { Prepared } from '../../src/db/statements/prepared.ts';
import { Slot } from '../../src/db/statements/slots.ts';
import { eventually } from '../support/eventually.ts';
import { hasServer, newServerDatabase, onServer } from './engines.ts';
import type { TemporaryDatabase } from './engines.ts';
import { freezable } from './freezable.ts';

describe('an unreachable PostgreSQL server', () => {
  it.each([
    [
      'postgres://someone:secret@127.0.0.1:1/x',
      'PostgreSQL at 127.0.0.1:1 is unavailable: the connection was refused.',
    ],
    [
      'postgres://someone:secret@nowhere.invalid/x',
      'PostgreSQL at nowhere.invalid:5432 is unavailable: the host is not known.',
    ],
    [
      'mysql://someone:secret@127.0.0.1/x',
      'The database URL is not one of PostgreSQL (postgres://user@host/name).',
    ],
    [
      'postgres://someone:secret@:what:/x',
      'The database URL is not one of PostgreSQL (postgres://user@host/name).',
    ],
  ])('is reported in one plain sentence without the password: %s', async (url, message) => {
    await expect(openDatabase({ url })).rejects.toMatchObject({ name: 'DatabaseUnavailableError', message });
  });

  it('is given up in time when it accepts connections and sends nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const opening = openDatabase({ url: `postgres://a@127.0.0.1:${port}/x`, connectTimeoutMs: 100 });
    await expect(opening).rejects.toThrow(
      `PostgreSQL at 127.0.0.1:${port} is unavailable: it did not answer in time.`,
    );
    silent.close();
  });
});

/** How an operator asks for other settings: by PGOPTIONS, or in the URL. */
interface Asked {
  readonly variable?: string;
  readonly inUrl?: string;
  readonly prepared?: boolean;
}

/** Terminates a backend of the server, and waits until it has ended. */
const terminateBackend = (pid = 0) => onServer(`select pg_terminate_backend(${pid}, 10000)`);

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('the PostgreSQL engine', () => {
  let temporary: TemporaryDatabase<{ url: string }>;
  beforeAll(async () => {
    temporary = await newServerDatabase();
  });
  afterAll(() => temporary.remove());

  it.each([
    [true, ['of three', 'of two']],
    [false, []],
  ])('prepares repeated statements by name (%s)', async (prepared, kept) => {
    const database = await openDatabase({ ...temporary.location, prepared });
    const connection = await database.connect();
    const statement = (name: string) =>
      new Prepared(sql`select ${sql.lit(name)}::text, ${new Slot('value')}::int`.compile(database.unscoped));
    for (const name of ['of one', 'of two', 'of two', 'of three', 'of three', 'of three']) {
      const { rows } = await connection.texts(statement(name), { value: 7 });
      expect(rows).toEqual([[name, '7']]);
    }
    const { rows } = await connection.query<{ statement: string }>(
      'select statement from pg_prepared_statements order by statement',
      [],
    );
    connection.release();
    await database.close();
    expect(rows.map((row) => /'(.*?)'/.exec(row.statement)?.[1])).toEqual(kept);
  });

  it.each([true, false])('limits the time of every kind of transaction (prepared: %s)', async (prepared) => {
    const database = await openDatabase({ ...temporary.location, prepared, statementTimeoutMs: 1234 });
    const db = database.of(randomUUID());
    const limits = async (trx: QueryExecutorProvider) => {
      const { rows } = await sql<Record<'statement' | 'idle' | 'isolation', string>>`
        select current_setting('statement_timeout') as statement,
          current_setting('idle_in_transaction_session_timeout') as idle,
          current_setting('transaction_isolation') as isolation`.execute(trx);
      return rows[0];
    };
    const found = {
      ordinary: await inTransaction(db, limits),
      unscoped: await inUnscopedTransaction(database, limits),
      snapshot: await inSnapshot({ db, connect: () => database.connect() }, (inside) => limits(inside.db)),
      snapshotOfAll: await inSnapshotOfAll(database, limits),
    };
    await database.close();
    const limited = { statement: '1234ms', idle: '1min' };
    expect(found).toEqual({
      ordinary: { ...limited, isolation: 'read committed' },
      unscoped: { ...limited, isolation: 'read committed' },
      snapshot: { ...limited, isolation: 'repeatable read' },
      snapshotOfAll: { ...limited, isolation: 'repeatable read' },
    });
  });

  it.each([
    ['1.1', {}],
    ['1.1', { variable: '-c work_mem=7MB' }],
    ['3', { variable: '-c random_page_cost=3' }],
    ['2', { inUrl: '-c random_page_cost=2' }],
    // A pooler would refuse the parameter, so the server's own setting counts.
    ['its own setting', { prepared: false }],
  ])(
    'plans with a random_page_cost of %s for %j',
    async (expected, { variable, inUrl, prepared = true }: Asked) => {
      const { PGOPTIONS } = process.env;
      const url = new URL(temporary.location.url);
      if (inUrl) url.searchParams.set('options', inUrl);
      if (variable) process.env.PGOPTIONS = variable;
      // URLSearchParams writes a space as a plus, which `pg` does not read as one.
      const database = await openDatabase({ url: url.href.replaceAll('+', '%20'), prepared });
      try {
        const { rows } = await sql<{ cost: string; source: string; memory: string }>`
        select setting as cost, source, current_setting('work_mem') as memory
        from pg_settings where name = 'random_page_cost'`.execute(database.unscoped);
        if (prepared) expect(rows[0]?.cost).toBe(expected);
        else expect(rows[0]?.source).not.toBe('client');
        if (variable?.includes('work_mem')) expect(rows[0]?.memory).toBe('7MB');
      } finally {
        await database.close();
        if (PGOPTIONS === undefined) delete process.env.PGOPTIONS;
        else process.env.PGOPTIONS = PGOPTIONS;
      }
    },
  );

  it('survives the loss of idle and of borrowed connections', async () => {
    const database = await openDatabase({ ...temporary.location, poolSize: 2 });
    const lost = database.unscoped.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await terminateBackend(rows[0]?.pid);
      await sql`select 1`.execute(transaction);
    });
    await expect(lost).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.unscoped);
    await terminateBackend(rows[0]?.pid);
    await eventually(() => database.load().open === 0);
    await expect(database.ping(2_000)).resolves.toBeUndefined();
    await database.close();
  });

  it('cancels a statement that runs too long and continues with the connection', async () => {
    const database = await openDatabase({ ...temporary.location, poolSize: 1, statementTimeoutMs: 100 });
    await expect(sql`select pg_sleep(5)`.execute(database.unscoped)).rejects.toMatchObject({ code: '57014' });
    await expect(database.ping(1_000)).resolves.toBeUndefined();
    await database.close();
  });

  it('answers a ping while the pool is exhausted, and fails it in time when the server is frozen', async () => {
    const proxy = await freezable(new URL(temporary.location.url));
    const database = await openDatabase({ url: proxy.url, poolSize: 1 });
    const connection = await database.connect();
    await expect(database.ping(2_000)).resolves.toBeUndefined();
    connection.release();
    proxy.freeze();
    await expect(database.ping(50)).rejects.toThrow('did not answer in 50 ms');
    await database.close();
    proxy.close();
  });

  it('fails callers that wait too long for a connection, and leaks none', async () => {
    const database = await openDatabase({ ...temporary.location, poolSize: 2 });
    const held = await Promise.all([database.connect(), database.connect()]);
    const deadline = new Deadline({ withinMs: 60_000, waitMs: 200 });
    const waiting = withMeter(() => database.connect(), { deadline });
    expect(database.load()).toEqual({ open: 2, idle: 0, size: 2, waiting: 1 });
    await expect(waiting).rejects.toThrow('all connections were busy for 200 ms');
    // Its deadline has passed, except for the minimum wait of every caller.
    await expect(withMeter(() => database.connect(), { deadline })).rejects.toThrow('busy for 100 ms');
    for (const connection of held) connection.release();
    expect(database.load()).toEqual({ open: 2, idle: 2, size: 2, waiting: 0 });
    await database.close();
  });

  it('limits a statement to the remaining time of its request', async () => {
    const database = await openDatabase({ ...temporary.location, poolSize: 1 });
    const deadline = new Deadline({ withinMs: 300, waitMs: 300 });
    const slow = withMeter(() => sql`select pg_sleep(20)`.execute(database.unscoped), { deadline });
    await expect(slow).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
    const next = withMeter(() => sql`select 1`.execute(database.unscoped), { deadline });
    await expect(next).rejects.toThrow('The request has taken too long.');
    await expect(sql`select 1 as one`.execute(database.unscoped)).resolves.toMatchObject({
      rows: [{ one: 1 }],
    });
    await database.close();
  });

  it.each([true, false])(
    'cancels a statement that waits too long for a lock (prepared: %s)',
    async (prepared) => {
      const limits = { poolSize: 2, lockTimeoutMs: 100, prepared };
      const database = await openDatabase({ ...temporary.location, ...limits });
      await sql`create table if not exists locked (id int)`.execute(database.unscoped);
      const lock = (trx: typeof database.unscoped) => sql`lock table locked`.execute(trx);
      const waiting = database.unscoped.transaction().execute(async (first) => {
        await lock(first);
        await database.unscoped.transaction().execute(lock);
      });
      await expect(waiting).rejects.toMatchObject({ code: '55P03' });
      expect(database.load()).toMatchObject({ open: 2, idle: 2 });
      await database.close();
    },
  );

  it('cancels the running statement of a disconnected client, and starts no other', async () => {
    const database = await openDatabase({ ...temporary.location, poolSize: 1 });
    const deadline = new Deadline({ withinMs: 60_000, waitMs: 200 });
    const observer = await openDatabase({ ...temporary.location, poolSize: 1 });
    const runningCount = async ({ unscoped }: Database) => {
      const { rows } = await sql<{ running: number }>`
        select count(*)::int as running from pg_stat_activity
        where query like '%abandoned%' and state = 'active' and pid <> pg_backend_pid()`.execute(unscoped);
      return rows[0]?.running;
    };
    const running = withMeter(() => sql`select pg_sleep(20) as "abandoned"`.execute(database.unscoped), {
      deadline,
    });
    await eventually(async () => (await runningCount(observer)) === 1);
    deadline.abort();
    await expect(running).rejects.toMatchObject({ code: '57014' });
    await expect(withMeter(() => sql`select 1`.execute(database.unscoped), { deadline })).rejects.toThrow(
      'has gone',
    );
    expect(await runningCount(database)).toBe(0);
    await observer.close();
    await database.close();
  });

  it('removes a caller from the queue when its client disconnects', async () => {
    const database = await openDatabase({ ...temporary.location, poolSize: 1 });
    const connection = await database.connect();
    const deadline = new Deadline({ withinMs: 60_000, waitMs: 60_000 });
    const waiting = withMeter(() => database.connect(), { deadline });
    deadline.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
    expect(database.load().waiting).toBe(0);
    connection.release();
    await database.close();
  });

  it('sets its application name', async () => {
    const database = await openDatabase(temporary.location);
    const { rows } = await sql`select current_setting('application_name') as name`.execute(database.unscoped);
    expect(rows).toEqual([{ name: 'workgraph' }]);
    await database.close();
  });

  it('gives up a server that freezes, and never reuses that connection', async () => {
    const proxy = await freezable(new URL(temporary.location.url));
    const database = await openDatabase({ url: proxy.url, poolSize: 1, statementTimeoutMs: 100 });
    proxy.freeze();
    await expect(sql`select 1`.execute(database.unscoped)).rejects.toMatchObject({
      name: 'DatabaseUnavailableError',
    });
    await expect(sql`select 2 as two`.execute(database.unscoped)).resolves.toMatchObject({
      rows: [{ two: 2 }],
    });
    await database.close();
    proxy.close();
  });
});
