import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { withMeter } from '../../src/db/engine/meter.ts';
import { Deadline } from '../../src/db/engine/deadline.ts';
import { Prepared } from '../../src/db/statements/prepared.ts';
import { type Lender, SharedConnection } from '../../src/db/engine/shared-connection.ts';
import { Slot } from '../../src/db/statements/slots.ts';
import { hasServer, newServerDatabase, type TemporaryDatabase } from './engines.ts';
import { eventually } from '../support/eventually.ts';
import { freezable } from './freezable.ts';

it('shared connections are returned without any session state', async () => {
  const client = new EventEmitter();
  let [lent, isSpent] = [0, false];
  const one = new SharedConnection({
    lend: () => {
      lent += 1;
      return Promise.resolve(client);
    },
    giveBack: () => void (lent -= 1),
    isSpent: () => isSpent,
  } as unknown as Lender);
  for (let times = 0; times < 3; times += 1) {
    isSpent = false;
    one.takesMore();
    await eventually(() => one.isIdle);
    isSpent = true;
    one.takesMore();
    expect(lent).toBe(0);
    expect(client.eventNames()).toEqual([]);
  }
});

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('shared connections', () => {
  let temporary: TemporaryDatabase<{ url: string }>;
  let database: Database;

  beforeAll(async () => {
    temporary = await newServerDatabase();
  });
  afterAll(() => temporary.remove());

  const opened = async (
    work: () => Promise<void>,
    location: { url: string; statementTimeoutMs?: number } = temporary.location,
  ) => {
    // The plain wire shares no connections.
    database = await openDatabase({ ...location, poolSize: 3, wire: 'fast' });
    try {
      await work();
    } finally {
      await database.close();
    }
  };
  /** A statement that sleeps, divides by a number, and returns the id of its connection. */
  const statement = () =>
    new Prepared(
      sql`select pg_backend_pid(), pg_sleep(${new Slot('seconds')}::float8)::text, 1 / ${new Slot('by')}::int`.compile(
        database.unscoped,
      ),
    );
  const own = async (prepared: Prepared, values = { seconds: 0, by: 1 }) => {
    const connection = await database.connect();
    try {
      return (await connection.texts(prepared, values)).rows[0]?.[0];
    } finally {
      connection.release();
    }
  };
  const shared = async (prepared: Prepared, values: { seconds?: number; by?: number } = {}) => {
    const connection = database.shared(prepared);
    if (!connection) throw new Error('No connection is shared.');
    return (await connection.texts(prepared, { seconds: 0, by: 1, ...values })).rows[0]?.[0];
  };
  /** Runs a statement until it counts as quick and gets a shared connection. */
  const untilShared = async (prepared: Prepared) => {
    while (database.shared(prepared) === undefined) await own(prepared);
    return prepared;
  };
  const expectNoneHeld = () => {
    const { open, idle, waiting } = database.load();
    expect({ held: open - idle, waiting }).toEqual({ held: 0, waiting: 0 });
  };
  const quick = () => untilShared(statement());

  it('run concurrent reads that are known to be quick', async () => {
    await opened(async () => {
      const prepared = await quick();
      const pids = await Promise.all(Array.from({ length: 8 }, () => shared(prepared)));
      expect(new Set(pids).size).toBe(1);
      expect(database.shared(statement())).toBeUndefined();
      expectNoneHeld();
    });
  });

  it('run a limited number at a time, and accept none behind a slow one', async () => {
    await opened(async () => {
      const prepared = await quick();
      const some = Array.from({ length: 8 }, () => shared(prepared));
      expect(database.shared(prepared)).toBeUndefined();
      await Promise.all(some);
      const long = shared(prepared, { seconds: 0.3 });
      await eventually(() => database.shared(prepared) === undefined);
      await own(prepared);
      expect(database.load().idle).toBe(1);
      await long;
      // It takes several runs until it counts as quick again.
      expect(database.shared(prepared)).toBeUndefined();
      await untilShared(prepared);
      expect(await shared(prepared)).toBeDefined();
    });
  });

  it('run no slow statement because of runs that were never sent', async () => {
    await opened(async () => {
      const slow = statement();
      await own(slow, { seconds: 0.05, by: 1 });
      for (let run = 0; run < 20; run += 1) {
        const deadline = new Deadline({ withinMs: 60_000, waitMs: 60_000 });
        const refused = withMeter(
          async () => {
            const connection = await database.connect();
            deadline.abort();
            return connection.texts(slow, { seconds: 0, by: 1 }).finally(() => connection.release());
          },
          { deadline },
        );
        await expect(refused).rejects.toThrow('has gone');
      }
      expect(database.shared(slow)).toBeUndefined();
      expect(slow.isQuick).toBe(false);
    });
  });

  it('fail only the statement that has an error', async () => {
    await opened(async () => {
      const prepared = await quick();
      const answers = await Promise.allSettled([1, 0, 1, 0].map((by) => shared(prepared, { by })));
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
      expect(answers[1]).toMatchObject({ reason: { code: '22012' } });
    });
  });

  it('fail all waiting statements when they are lost, and are opened again', async () => {
    await opened(async () => {
      const prepared = await quick();
      const pid = await shared(prepared);
      const waiting = [shared(prepared, { seconds: 10 }), shared(prepared), shared(prepared)];
      const settled = Promise.allSettled(waiting);
      await own(
        new Prepared(
          sql`select pg_terminate_backend(${sql.lit(Number(pid))}), ${new Slot('seconds')}::int, ${new Slot('by')}::int`.compile(
            database.unscoped,
          ),
        ),
      );
      for (const each of await settled)
        expect(each).toMatchObject({ reason: { name: 'DatabaseUnavailableError' } });
      await untilShared(prepared);
      expect(await shared(prepared)).not.toBe(pid);
      expectNoneHeld();
    });
  });

  it('fail a statement at its deadline, and move those that wait behind it to other connections', async () => {
    await opened(async () => {
      const prepared = await quick();
      const generousAdmission = (limits: { withinMs: number; waitMs: number }, seconds = 0) =>
        withMeter(() => shared(prepared, { seconds }), { deadline: new Deadline(limits) });
      const enough = { withinMs: 60_000, waitMs: 60_000 };
      let isLongOver = false;
      const long = generousAdmission(enough, 1).then((pid) => {
        isLongOver = true;
        return pid;
      });
      const hasty = generousAdmission({ withinMs: 60, waitMs: 60_000 });
      const waiting = Promise.all([generousAdmission(enough), generousAdmission(enough)]);
      await expect(hasty).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
      const pids = await waiting;
      expect(isLongOver).toBe(false);
      expect(pids).not.toContain(await long);
    });
  });

  it('are lost when the server freezes, without a leak', async () => {
    const proxy = await freezable(new URL(temporary.location.url));
    await opened(
      async () => {
        const prepared = await quick();
        proxy.freeze();
        await expect(shared(prepared)).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
        expectNoneHeld();
      },
      { url: proxy.url, statementTimeoutMs: 100 },
    );
    proxy.close();
  });

  it('are replaced after a thousand prepared statements', async () => {
    await opened(async () => {
      const prepared = await quick();
      const pid = await shared(prepared);
      const known = async (n: number) => {
        const other = new Prepared(
          sql`select pg_backend_pid(), ${sql.lit(n)}, ${new Slot('seconds')}::int, ${new Slot('by')}::int`.compile(
            database.unscoped,
          ),
        );
        return shared(await untilShared(other));
      };
      const pids = new Set<unknown>();
      for (let n = 0; n < 1_010; n += 1) pids.add(await known(n));
      expect(pids.size).toBe(2);
      expect(pids).toContain(pid);
    });
  });

  it('are closed once all statements are answered', async () => {
    await opened(async () => {
      const prepared = await quick();
      const answers = Promise.all([shared(prepared, { seconds: 0.2 }), shared(prepared)]);
      await database.close();
      expect(await answers).toHaveLength(2);
    });
  });
});
