import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { newDirectory } from './engines.ts';

describe('the embedded engine', () => {
  const temporary = newDirectory();
  // Copied, because creating a database takes two seconds and is not tested here.
  beforeAll(() => copyIntoDirectory('empty', temporary.location.dataDir));
  afterAll(() => temporary.remove());

  it('keeps every acknowledged write through kill -9, and opens again at once', async () => {
    const engine = JSON.stringify(join(import.meta.dirname, '../../src/db/engine/engine.ts'));
    const script = `
      import { sql } from 'kysely';
      import { openDatabase } from ${engine};
      const { unscoped } = await openDatabase(${JSON.stringify(temporary.location)});
      await sql\`create table if not exists tick (n int primary key)\`.execute(unscoped);
      for (let n = 1; ; n += 1) {
        await sql\`insert into tick values (\${n})\`.execute(unscoped);
        process.stdout.write(n + '\\n');
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: import.meta.dirname,
    });
    let acknowledged = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line);
      if (acknowledged === 300) child.kill('SIGKILL');
    }
    const database = await openDatabase(temporary.location);
    const kept = await sql<{ n: number }>`select count(*)::int as n from tick`.execute(database.unscoped);
    expect(kept.rows[0]?.n).toBeGreaterThanOrEqual(acknowledged);
    expect(acknowledged).toBeGreaterThanOrEqual(300);
    await database.close();
  });

  it('refuses to open a database twice, until the first is closed', async () => {
    const first = await openDatabase(temporary.location);
    await expect(openDatabase(temporary.location)).rejects.toThrow('is held by this process');
    await first.close();
    await expect(sql`select 1`.execute(first.unscoped)).rejects.toThrow('The embedded database is closed.');
    await (await openDatabase(temporary.location)).close();
  });

  it('waits on close for running statements', async () => {
    const database = await openDatabase(temporary.location);
    const begun = Promise.withResolvers<void>();
    const running = database.unscoped.transaction().execute(async (transaction) => {
      begun.resolve();
      await delay(50);
      await sql`create table late (n int)`.execute(transaction);
    });
    await begun.promise;
    await database.close();
    await expect(running).resolves.toBeUndefined();
  });

  it('fails a ping while a transaction is open', async () => {
    const database = await openDatabase(temporary.location);
    await database.unscoped.transaction().execute(async (transaction) => {
      await sql`select 1`.execute(transaction);
      await expect(database.ping(50)).rejects.toThrow('did not answer in 50 ms');
      await expect(database.ping(50)).rejects.toThrow('did not answer in 50 ms');
    });
    await expect(database.ping(1_000)).resolves.toBeUndefined();
    await database.close();
  });
});
