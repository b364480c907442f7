import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { changesChannel } from '../../src/db/changes.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { Sequencer } from '../../src/live/sequencer.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { eventually } from '../support/eventually.ts';
import { copyTemplate } from '../support/templates.ts';
import { hasServer, urlOf } from '../db/engines.ts';

let database: Database;
let drop: () => Promise<unknown>;
let sequencer: Sequencer | undefined;
const warnings: unknown[] = [];

beforeEach(async () => {
  ({ database, drop } = await copyTemplate('migrated'));
  await whenNumbering('null');
  await sql`create trigger numbering before insert on change for each row execute function numbering()`.execute(
    database.unscoped,
  );
});
afterEach(async () => {
  await sequencer?.close();
  await drop();
  warnings.length = 0;
});

const [failingWorkspace, recoveringWorkspace, workingWorkspace] = [newUuid(), newUuid(), newUuid()];

async function append(workspaceId: string): Promise<void> {
  await sql`
    insert into change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
    values (${workspaceId}, ${newUuid()}, 'import.finished.v1', now(), ${workspaceId}, 2)`.execute(
    database.unscoped,
  );
}

/** Makes the transactions that number changes of the failing and of the recovering workspace run these statements. */
async function whenNumbering(statement: string, recoveringStatement = 'null'): Promise<void> {
  await sql`
    create or replace function numbering() returns trigger language plpgsql as $$ begin
      if new.workspace_id = ${sql.lit(failingWorkspace)} then ${sql.raw(statement)}; end if;
      if new.workspace_id = ${sql.lit(recoveringWorkspace)} then ${sql.raw(recoveringStatement)}; end if;
      return new;
    end $$`.execute(database.unscoped);
}

function start(): void {
  const warn = (...words: unknown[]) => warnings.push(words);
  sequencer = new Sequencer({ database, onNumbered: () => undefined, logger: { warn } });
}

/** Waits until this number of changes of a workspace have their positions. */
async function waitUntilNumbered(workspaceId: string, count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from change where workspace_id = ${workspaceId}`.execute(
      database.unscoped,
    );
    return rows[0]?.count === count;
  });
}

const expectedWarning = [
  { err: expect.objectContaining({ message: 'not here' }), workspaceId: failingWorkspace },
  'changes of a workspace could not be numbered',
];

it('a workspace whose changes cannot be numbered holds up no other, and is logged once until it recovers', async () => {
  await whenNumbering(`raise exception 'not here'`);
  await append(failingWorkspace);
  await append(workingWorkspace);
  start();
  await waitUntilNumbered(workingWorkspace, 1);
  for (let count = 2; count < 5; count += 1) {
    await append(failingWorkspace);
    await append(workingWorkspace);
    await waitUntilNumbered(workingWorkspace, count);
  }
  expect(warnings).toEqual([expectedWarning]);
  await whenNumbering('null');
  await waitUntilNumbered(failingWorkspace, 4);
  await whenNumbering(`raise exception 'not here'`);
  await append(failingWorkspace);
  await eventually(async () => warnings.length === 2);
  expect(warnings).toEqual([expectedWarning, expectedWarning]);
});

(hasServer ? describe : describe.skip)('on a PostgreSQL server', () => {
  it('all processes hear of the changes of a workspace although another one fails', async () => {
    await whenNumbering(`raise exception 'not here'`);
    const client = new pg.Client({ connectionString: await urlOf(database) });
    await client.connect();
    await client.query(`listen ${changesChannel}`);
    const notification = once(client, 'notification') as Promise<[pg.Notification]>;
    await append(workingWorkspace);
    await append(failingWorkspace);
    start();
    const [{ payload }] = await notification;
    expect(payload).toBe(`${workingWorkspace} 1`);
    await client.end();
  });

  it('a workspace that failed and now waits for a lock delays no other', async () => {
    await whenNumbering(`raise exception 'not here'`);
    await append(failingWorkspace);
    await append(workingWorkspace);
    start();
    await eventually(async () => warnings.length === 1);
    await waitUntilNumbered(workingWorkspace, 1);
    await database.unscoped.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(42)`.execute(trx);
      await whenNumbering('perform pg_advisory_xact_lock(42)');
      await eventually(() => isWaitedFor(42));
      for (let count = 2; count < 5; count += 1) {
        await append(workingWorkspace);
        await waitUntilNumbered(workingWorkspace, count);
      }
    });
    await waitUntilNumbered(failingWorkspace, 1);
  });

  it('a workspace that failed is numbered again while another one that failed waits for a lock', async () => {
    const refusedStatement = `raise exception 'not here'`;
    await whenNumbering(refusedStatement, refusedStatement);
    await append(failingWorkspace);
    await append(recoveringWorkspace);
    start();
    await eventually(async () => warnings.length === 2);
    await database.unscoped.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(43)`.execute(trx);
      await whenNumbering('perform pg_advisory_xact_lock(43)', refusedStatement);
      await eventually(() => isWaitedFor(43));
      await whenNumbering('perform pg_advisory_xact_lock(43)');
      await waitUntilNumbered(recoveringWorkspace, 1);
      expect(await isWaitedFor(43)).toBe(true);
    });
    await waitUntilNumbered(failingWorkspace, 1);
  });
});

/** Whether a transaction waits for an advisory lock. */
async function isWaitedFor(lock: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted
      and database = (select oid from pg_database where datname = current_database())`.execute(
    database.unscoped,
  );
  return rows.length > 0;
}
