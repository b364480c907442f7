import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import DataLoader from 'dataloader';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { openDatabase } from '../../src/db/engine/engine.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { meter, withMeter } from '../../src/db/engine/meter.ts';
import { engines } from './engines.ts';
import type { TemporaryDatabase } from './engines.ts';

interface Noted {
  note: { workspaceId: string; id: number; text: string };
}

const workspaceId = '018f0000-0000-7000-8000-000000000001';

describe.each(engines)('the %s engine', (engine, newDatabase) => {
  let temporary: TemporaryDatabase;
  let database: Database;
  let db: Kysely<Noted>;

  beforeAll(async () => {
    temporary = await newDatabase();
    database = await openDatabase(temporary.location);
    db = database.unscoped as unknown as Kysely<Noted>;
    await sql`create table note (workspace_id uuid, id bigint, text text not null, primary key (workspace_id, id))`.execute(
      database.unscoped,
    );
  });

  afterAll(async () => {
    await database.close();
    await temporary.remove();
  });

  it('reports its name', () => {
    expect(database.engine).toBe(engine);
  });

  it('decodes types like the other engine', async () => {
    const decoded = await sql`select
        9007199254740991::int8 as int8, array[1::int8, null] as int8s, 7 as int4, 1.50::numeric as numeric,
        '2024-02-29'::date as date, array['2024-02-29'::date] as dates,
        '2024-02-29T23:59:59.123Z'::timestamptz(3) as timestamptz, '\\x00ff'::bytea as bytea,
        array['a', null, 'b"c'] as texts, ${workspaceId}::uuid as uuid, array[${workspaceId}::uuid] as uuids,
        '{"snake_key": [1]}'::jsonb as jsonb, true as bool, null as nothing`.execute(db);
    expect(decoded.rows).toEqual([
      {
        int8: 9_007_199_254_740_991,
        int8s: [1, null],
        int4: 7,
        numeric: '1.50',
        date: '2024-02-29',
        dates: ['2024-02-29'],
        timestamptz: new Date('2024-02-29T23:59:59.123Z'),
        bytea: Buffer.from([0, 255]),
        texts: ['a', null, 'b"c'],
        uuid: workspaceId,
        uuids: [workspaceId],
        jsonb: { snake_key: [1] },
        bool: true,
        nothing: null,
      },
    ]);
  });

  it('reports errors with the codes of PostgreSQL and keeps working', async () => {
    const twice = db.insertInto('note').values({ workspaceId, id: 1, text: 'a' });
    await twice.execute();
    await expect(twice.execute()).rejects.toMatchObject({ code: '23505', constraint: 'note_pkey' });
    await expect(sql`select nonsense`.execute(db)).rejects.toMatchObject({ code: '42703' });
    await expect(sql`select 1 as one`.execute(db)).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });

  it('names columns in camelCase and does not change the keys of JSON', async () => {
    const rows = await db
      .selectFrom('note')
      .select('workspaceId')
      .where('workspaceId', '=', workspaceId)
      .execute();
    expect(rows).toContainEqual({ workspaceId });
  });

  it('refuses an unknown table on the handle of a workspace, and not unscoped', async () => {
    const bound = database.of(workspaceId) as unknown as Kysely<Noted>;
    await expect(bound.selectFrom('note').selectAll().execute()).rejects.toThrow('"note" is neither a table');
    await expect(db.selectFrom('note').selectAll().execute()).resolves.toBeDefined();
  });

  it('rolls back a transaction that throws, and the next one starts clean', async () => {
    const failed = db.transaction().execute(async (transaction) => {
      await transaction.insertInto('note').values({ workspaceId, id: 20, text: 'lost' }).execute();
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    const found = db
      .selectFrom('note')
      .select('id')
      .where('workspaceId', '=', workspaceId)
      .where('id', '=', 20);
    expect(await found.execute()).toEqual([]);
  });

  it('isolates concurrent transactions', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        db.transaction().execute(async (transaction) => {
          await transaction
            .insertInto('note')
            .values({ workspaceId, id: 100 + at, text: 'x' })
            .execute();
          if (at % 2 === 1) throw new Error('odd');
        }),
      ).map((transaction) => transaction.catch(() => undefined)),
    );
    const kept = db
      .selectFrom('note')
      .select('id')
      .where('workspaceId', '=', workspaceId)
      .where('id', '>=', 100);
    expect((await kept.execute()).map(({ id }) => id % 2)).toEqual(Array.from({ length: 10 }, () => 0));
  });

  it('counts the statements of a request, without begin and commit, and not those of another', async () => {
    const [one, two] = await Promise.all([
      withMeter(async () => {
        await db.transaction().execute(async (transaction) => {
          await sql`select 1`.execute(transaction);
          await sql`select 2`.execute(transaction);
        });
        return meter();
      }),
      withMeter(async () => {
        await sql`select nonsense`.execute(db).catch(() => undefined);
        return meter();
      }),
    ]);
    expect(one?.statements).toBe(2);
    expect(one?.sqlMs).toBeGreaterThan(0);
    expect(two?.statements).toBe(1);
    expect(meter()).toBeUndefined();
  });

  it('counts the batches of a DataLoader for the request that loads them', async () => {
    const counted = await withMeter(async () => {
      const loader = new DataLoader<number, number>(async (keys) => {
        await sql`select 1`.execute(db);
        return keys;
      });
      await Promise.all([loader.load(1), loader.load(2), loader.load(3)]);
      await loader.load(4);
      return meter()?.statements;
    });
    expect(counted).toBe(2);
  });

  it('answers a ping', async () => {
    await expect(database.ping(1_000)).resolves.toBeUndefined();
  });

  it('runs timers and sockets during a long series of statements', async () => {
    const series = { turns: 0 };
    const timer = setInterval(() => {
      series.turns += 1;
    }, 1);
    // A hundred statements may take less than five milliseconds.
    for (let at = 0; at < 10_000 && series.turns <= 5; at += 1) await sql`select ${at}::int`.execute(db);
    clearInterval(timer);
    expect(series.turns).toBeGreaterThan(5);
  });

  // A second one cannot be opened in the directory of an embedded database.
  const onPostgres = engine === 'postgres' ? it : it.skip;
  onPostgres('refuses statements once it is closed, and closes twice without complaint', async () => {
    const other = await openDatabase(temporary.location);
    await other.close();
    await other.close();
    await expect(sql`select 1`.execute(other.unscoped)).rejects.toThrow('unavailable');
  });
});
