import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { Listener } from '../../src/db/engine/listener.ts';
import { Prepared } from '../../src/db/statements/prepared.ts';
import { eventually } from '../support/eventually.ts';
import { hasServer, newServerDatabase, onServer, type TemporaryDatabase } from './engines.ts';

(hasServer ? describe : describe.skip)('connections to a primary that takes no writes', () => {
  let temporary: TemporaryDatabase<{ url: string }>;
  let name: string;
  let database: Database;
  let admin: pg.Client;

  beforeEach(async () => {
    temporary = await newServerDatabase();
    name = new URL(temporary.location.url).pathname.slice(1);
    admin = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    // Like an old primary: the connections that are opened now take no writes until they are closed.
    await onServer(`alter database ${name} set default_transaction_read_only = on`);
    // The plain wire shares no connections.
    const location = { ...temporary.location, poolSize: 3, wire: 'fast' } as const;
    database = await openDatabase(location, [temporary.location.url]);
  });
  afterEach(async () => {
    await database.close();
    await admin.end();
    await temporary.remove();
  });

  /** From now on, new connections take writes. */
  const moveOn = () => onServer(`alter database ${name} reset default_transaction_read_only`);
  const write = () => sql`create table if not exists written ()`.execute(database.unscoped);
  const refusal = { name: 'DatabaseUnavailableError', message: expect.stringContaining('read-only') };

  const statement = () => new Prepared(sql`select pg_backend_pid()`.compile(database.unscoped));
  const pidOf = async (connection: Awaited<ReturnType<Database['connect']>>, prepared: Prepared) => {
    try {
      return Number((await connection.texts(prepared, {})).rows[0]?.[0]);
    } finally {
      connection.release();
    }
  };
  const ownPid = async (prepared: Prepared) => pidOf(await database.connect(), prepared);
  /** Statements are shared once they have been quick several times, and a shared connection is open. */
  const sharedPid = async (prepared: Prepared): Promise<number> => {
    for (;;) {
      const connection = database.shared(prepared);
      if (connection) return pidOf(connection, prepared);
      await ownPid(prepared);
    }
  };
  /** The connections whose application or last statement is this. */
  const pidsOf = async (applicationOrQuery: string): Promise<number[]> => {
    const { rows } = await admin.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = $1 and $2 in (application_name, query)',
      [name, applicationOrQuery],
    );
    return rows.map(({ pid }) => pid);
  };
  const onePidOf = async (applicationOrQuery: string): Promise<number> => {
    let pids: number[] = [];
    await eventually(async () => {
      pids = await pidsOf(applicationOrQuery);
      return pids.length === 1;
    });
    return pids[0] ?? 0;
  };

  it('are all replaced after one refused write, also those that only read, probe, cancel or listen', async () => {
    const listener = new Listener({
      url: temporary.location.url,
      name: 'a listener',
      channels: { some: { onNotification: () => undefined, onGap: () => undefined } },
      onFailure: () => undefined,
      generations: database.generations,
    });
    const prepared = statement();
    await database.ping(5_000);
    const old = {
      shared: await sharedPid(prepared),
      own: await ownPid(prepared),
      probe: await onePidOf('select 1'),
      listener: await onePidOf('a listener'),
      positions: await onePidOf('workgraph position'),
    };
    await moveOn();
    expect(await sharedPid(prepared)).toBe(old.shared);
    await expect(write()).rejects.toMatchObject(refusal);
    await write();
    expect(Object.values(old)).not.toContain(await sharedPid(prepared));
    expect(Object.values(old)).not.toContain(await ownPid(prepared));
    const isReplaced = async (pid: number, by: string) => {
      await eventually(async () => !(await pidsOf(by)).includes(pid));
      expect(Object.values(old)).not.toContain(await onePidOf(by));
    };
    await database.ping(5_000);
    await isReplaced(old.probe, 'select 1');
    await isReplaced(old.listener, 'a listener');
    await isReplaced(old.positions, 'workgraph position');
    await listener.close();
  });

  it('are replaced once a second at most, and once more after the last refused write', async () => {
    const prepared = statement();
    const { generations } = database;
    let count = 0;
    generations?.onNew(() => {
      count += 1;
    });
    const beganMs = performance.now();
    await expect(write()).rejects.toMatchObject(refusal);
    expect(count).toBe(1);
    const pid = await sharedPid(prepared);
    const pids = new Set<number>();
    for (let time = 0; time < 20; time += 1) {
      await expect(write()).rejects.toMatchObject(refusal);
      pids.add(await ownPid(prepared));
    }
    // A timer may be some milliseconds early.
    const maxNow = 1 + Math.floor((performance.now() - beganMs + 10) / 1_000);
    expect(count).toBeLessThanOrEqual(maxNow);
    // The permits of the pool allow for two connections besides the shared one.
    expect(pids.size).toBeLessThanOrEqual(2 * maxNow);
    const before = count;
    await expect(write()).rejects.toMatchObject(refusal);
    await moveOn();
    await eventually(() => count > before);
    expect(await sharedPid(prepared)).not.toBe(pid);
    await write();
  });
});
