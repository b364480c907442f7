import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Prepared } from '../../src/db/statements/prepared.ts';
import { Slot } from '../../src/db/statements/slots.ts';
import { withJanitorLock } from '../../src/db/housekeeping.ts';
import { copyTemplate } from '../support/templates.ts';

// `.ci/pooler` starts a pooler and sets its URL.
const throughPooler = process.env.TEST_POOLER_URL ? describe : describe.skip;

throughPooler('through a pooler of transactions (TEST_POOLER_URL)', () => {
  it('runs prepared statements although the connection changes each time', async () => {
    const { database, drop } = await copyTemplate('migrated');
    const statement = new Prepared(
      sql`select pg_backend_pid()::text, ${new Slot('value')}::int`.compile(database.unscoped),
    );
    const ask = async (value: number) => {
      const connection = await database.connect();
      const { rows } = await connection.texts(statement, { value }).finally(() => connection.release());
      return rows[0]?.[1];
    };
    const values = Array.from({ length: 100 }, (_, value) => value);
    expect(await Promise.all(values.map(ask))).toEqual(values.map(String));
    await drop();
  });

  it('sets the statement timeout of a transaction only for that transaction', async () => {
    const { database, drop } = await copyTemplate('migrated');
    const timeout = sql<{ ms: string }>`select current_setting('statement_timeout') as ms`;
    const inside = await database.unscoped.transaction().execute((trx) => timeout.execute(trx));
    expect(inside.rows).toEqual([{ ms: '30s' }]);
    expect((await timeout.execute(database.unscoped)).rows).toEqual([{ ms: '0' }]);
    await drop();
  });

  it('releases the lock of the janitor', async () => {
    const { database, drop } = await copyTemplate('migrated');
    for (let time = 0; time < 20; time += 1) {
      const both = await Promise.all([
        withJanitorLock(database, () =>
          sql`select pg_sleep(0.01)`.execute(database.unscoped).then(() => undefined),
        ),
        database.ping(5_000),
      ]);
      expect(both[0]).toBe(true);
    }
    await drop();
  });
});
