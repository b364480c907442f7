import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Deadline } from '../../src/db/engine/deadline.ts';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { withMeter } from '../../src/db/engine/meter.ts';
import { hasServer, newServerDatabase, type TemporaryDatabase } from './engines.ts';

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('a request with many statements at once', () => {
  let temporary: TemporaryDatabase;
  let database: Database;

  beforeAll(async () => {
    const created = await newServerDatabase();
    temporary = created;
    database = await openDatabase({ ...created.location, poolSize: 4 });
  });
  afterAll(async () => {
    await database.close();
    await temporary.remove();
  });

  const slow = () => sql`select pg_sleep(0.1)`.execute(database.unscoped);
  const inRequest = (statements: number, waitMs: number) =>
    withMeter(() => Promise.all(Array.from({ length: statements }, slow)), {
      deadline: new Deadline({ withinMs: 60_000, waitMs }),
    });

  it('is not refused because its own statements have all connections', async () => {
    await expect(inRequest(12, 1)).resolves.toHaveLength(12);
  });

  it('leaves connections to other requests', async () => {
    const many = inRequest(20, 60_000);
    let ended = false;
    void many.finally(() => {
      ended = true;
    });
    await inRequest(1, 60_000);
    expect(ended).toBe(false);
    await many;
  });
});
