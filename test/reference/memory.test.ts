import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { removeReferenceChanges } from '../../src/db/housekeeping.ts';
import { type CachedTableName, cachedTables } from '../../src/db/tables/cached-tables.ts';
import { Prepared } from '../../src/db/statements/prepared.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { inTransaction } from '../../src/db/engine/transaction.ts';
import { ReferenceMemory } from '../../src/reference/memory.ts';
import type { Snapshot } from '../../src/reference/snapshot.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { type App, startApp } from '../support/app.ts';
import { nameOf, rename as renameTeam, renameUnseen } from './other-process.ts';

let app: App;
let memory: ReferenceMemory;
const opened: ReferenceMemory[] = [];

beforeAll(async () => {
  app = await startApp({ demo: true });
  memory = open();
});
afterEach(async () => {
  for (const one of opened.splice(1)) await one.close();
});
afterAll(async () => {
  await memory.close();
  await app.stop();
});

function open(maxRows?: number): ReferenceMemory {
  const one = new ReferenceMemory(app.database, { maxRows });
  opened.push(one);
  return one;
}

const current = (referenceMemory = memory): Promise<Snapshot> =>
  Promise.resolve(referenceMemory.current(app.workspaceId));
const rename = (code: string, name: string, db?: TenantDb) => renameTeam(app, code, name, db);

describe('the cache', () => {
  it.each(Object.keys(cachedTables) as CachedTableName[])(
    'has all rows of %s, equal to those read by SQL',
    async (name) => {
      const table = (await current()).table(name);
      const columns = cachedTables[name].columns.map((column) => `r.${column}`);
      const read = app.database.unscoped;
      const rows = (await read
        .selectFrom(`${name} as r` as 'team as r')
        .select(columns as 'r.id'[])
        .where('r.workspaceId', '=', app.workspaceId)
        .execute()) as Record<string, unknown>[];
      const text = (value: unknown) => (value instanceof Date ? value.getTime() : String(value));
      const cached = table?.rows.map((row) =>
        cachedTables[name].columns.map((column, index) => {
          const sample = rows.map((one) => one[column]).find((one) => one !== null);
          const own = row[index] ?? null;
          if (sample instanceof Date && own !== null)
            return Date.parse(own.replace(' ', 'T').replace(/\+00$/, 'Z'));
          return typeof sample === 'boolean' ? String(own === 't') : String(own);
        }),
      );
      const expected = rows.map((row) => cachedTables[name].columns.map((column) => text(row[column])));
      expect(cached?.map(String).toSorted()).toEqual(expected.map(String).toSorted());
      expect(rows.length > 0 || name === 'projectLabel' || name === 'projectMember').toBe(true);
    },
  );

  it('has a trigger on each cached table and on no other', async () => {
    const { rows } = await sql<{ name: string }>`
      select distinct event_object_table as name from information_schema.triggers
      where action_statement like '%reference_changed%'`.execute(app.database.unscoped);
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(cachedTables).map(snake).toSorted());
  });

  it('has only the version of a workspace with more rows than the limit', async () => {
    const small = open(5);
    const snapshot = await current(small);
    expect(snapshot.isCached).toBe(false);
    expect(snapshot.version).toEqual((await current()).version);
    expect(small.size().rows).toBe(0);
  });

  it('evicts the least recently used workspace for another one', async () => {
    const { rowCount } = await current();
    const one = open(rowCount);
    await current(one);
    const second = await app.secondWorkspace();
    await one.current(second.workspaceId);
    expect(one.size()).toMatchObject({ workspaces: 1 });
  });
});

describe('a write of this process', () => {
  it('is visible to the next request, and replaces only the objects of its rows', async () => {
    // A version of which the log has the changes, whatever was written before.
    await rename('WEB', 'Sails');
    const before = await current();
    await rename('WEB', 'Engines');
    const after = await current();
    expect(nameOf(after, 'WEB')).toBe('Engines');
    expect(nameOf(before, 'WEB')).not.toBe('Engines');
    expect(after.table('team')?.by('code', 'CRW')[0]).toBe(before.table('team')?.by('code', 'CRW')[0]);
    expect(after.table('member')).toBe(before.table('member'));
  });

  it('increases the version by one, however much it changes', async () => {
    const before = await current();
    await inTransaction(app.database.of(app.workspaceId), async (trx) => {
      await rename('WEB', 'Counted', trx);
      await rename('CRW', 'Counted as well', trx);
      await rename('WEB', 'Counted again', trx);
    });
    const { version } = await current();
    expect(version.ref).toBe(before.version.ref + 1);
    expect(version.tag).not.toBe(before.version.tag);
  });

  it('does not increase the version if it is rolled back or changes nothing', async () => {
    const before = await current();
    const undone = inTransaction(app.database.of(app.workspaceId), async (trx) => {
      await rename('WEB', 'Undone', trx);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await rename('WEB', nameOf(before, 'WEB') ?? '');
    const after = await current();
    expect(after.version).toEqual(before.version);
    expect(nameOf(after, 'WEB')).toBe(nameOf(before, 'WEB'));
  });

  it('to a join table changes the rows that depend on it', async () => {
    const { unscoped: db } = app.database;
    const [{ id: teamId } = { id: '' }] = await db
      .selectFrom('team as t')
      .select('t.id')
      .where('t.workspaceId', '=', app.workspaceId)
      .where('t.code', '=', 'WEB')
      .execute();
    await sql`
      insert into team_member (workspace_id, team_id, user_account_id)
      values (${app.workspaceId}, ${teamId}, ${app.ownerUserAccountId}) on conflict do nothing`.execute(db);
    const members = async () => (await current()).table('teamMember')?.by('teamId', teamId).length;
    const before = await members();
    await db
      .deleteFrom('teamMember as m')
      .where('m.workspaceId', '=', app.workspaceId)
      .where('m.teamId', '=', teamId)
      .execute();
    expect([before === 0, await members()]).toEqual([false, 0]);
  });

  it('that moves a row of a join table to another parent changes both parents', async () => {
    const { unscoped } = app.database;
    const [from, to] = (await current()).table('team')?.by('state', '1') ?? [];
    const teams = [from?.[0], to?.[0]];
    await sql`delete from team_member`.execute(unscoped);
    await sql`
      insert into team_member (workspace_id, team_id, user_account_id)
      values (${app.workspaceId}, ${teams[0]}, ${app.ownerUserAccountId})`.execute(unscoped);
    await current();
    await sql`update team_member set team_id = ${teams[1]}`.execute(unscoped);
    const joins = (await current()).table('teamMember');
    expect(teams.map((team) => joins?.by('teamId', team ?? '').length)).toEqual([0, 1]);
  });

  it('by a prepared statement is visible as well', async () => {
    await current();
    const statement = new Prepared(
      app.database.unscoped
        .updateTable('team as t')
        .set({ name: 'Prepared', nameFold: 'prepared' })
        .where('t.workspaceId', '=', app.workspaceId)
        .where('t.code', '=', 'WEB'),
    );
    const connection = await app.database.connect();
    await connection.rows(statement, {});
    connection.release();
    expect(nameOf(await current(), 'WEB')).toBe('Prepared');
  });

  it('that truncates a table is visible, although row triggers do not fire', async () => {
    // The known version is still in the log, which has no entry for a truncate.
    await rename('WEB', 'Before the truncate');
    expect((await current()).table('projectLabel')?.rows).not.toEqual([]);
    await sql`truncate project_label`.execute(app.database.unscoped);
    expect((await current()).table('projectLabel')?.rows).toEqual([]);
  });
});

describe('versions', () => {
  it('with the same number of different histories are distinguished by their tags', async () => {
    const before = await current();
    await renameUnseen(app, 'WEB', 'Another history');
    for (const table of ['workspace_version', 'reference_change'])
      await sql`update ${sql.table(table)} set tag = tag + 1 where workspace_id = ${app.workspaceId}`.execute(
        app.database.unscoped,
      );
    const after = await memory.renewed(app.workspaceId);
    expect(after.version.ref).toBe(before.version.ref);
    expect(nameOf(after, 'WEB')).toBe('Another history');
  });

  it('older than the log cause a complete read', async () => {
    await rename('WEB', 'Logged');
    await current();
    await removeReferenceChanges(app.database.unscoped, -1, 10_000);
    await rename('WEB', 'Beyond the log');
    expect(nameOf(await current(), 'WEB')).toBe('Beyond the log');
  });

  it('are pruned from the log by workspace, whatever versions other workspaces have', async () => {
    const [far, near] = await Promise.all(
      ['Far', 'Near'].map((name) =>
        createWorkspace(app.database, systemActor, { name, ownerDisplayName: 'Ada' }),
      ),
    );
    for (const [workspace, ref] of [
      [far, 10],
      [near, 5],
    ] as const) {
      const id = workspace?.workspaceId;
      const { unscoped } = app.database;
      await sql`update workspace_version set ref = ${ref} where workspace_id = ${id}`.execute(unscoped);
      await sql`delete from reference_change where workspace_id = ${id}`.execute(unscoped);
      await sql`insert into reference_change (workspace_id, version, tag, kept_table, group_id)
        values (${id}, 3, 1, 'team', ${app.workspaceId})`.execute(unscoped);
    }
    await removeReferenceChanges(app.database.unscoped, 4, 10_000);
    const { rows } = await sql<{ id: string }>`select workspace_id as id from reference_change
      where version = 3 and group_id = ${app.workspaceId}`.execute(app.database.unscoped);
    expect(rows).toEqual([{ id: near?.workspaceId }]);
  });

  it('that a client claims to have seen cause one check, and no waiting if they do not exist', async () => {
    const { version } = await current();
    const read = await readsOf(() => memory.current(app.workspaceId, { ref: version.ref + 7, tag: 1 }));
    expect(read.reads).toEqual({ check: 1, delta: 0, whole: 0 });
    expect(read.result.version).toEqual(version);
    const known = await readsOf(() => memory.current(app.workspaceId, version));
    expect(known.reads).toEqual({ check: 0, delta: 0, whole: 0 });
  });
});

describe('a check', () => {
  it('is shared by concurrent requests, and starts again for a write after its start', async () => {
    await current();
    const shared = await readsOf(async () => {
      memory.expireAll();
      const all = Array.from({ length: 5 }, () => current());
      memory.expireAll();
      all.push(current());
      return Promise.all(all);
    });
    expect(shared.reads).toEqual({ check: 2, delta: 0, whole: 0 });
  });

  it('that fails causes an error, and never an answer from old data', async () => {
    let isGone = false;
    const { database } = app;
    const own = new ReferenceMemory({
      ...database,
      connect: () => (isGone ? Promise.reject(new Error('gone')) : database.connect()),
    });
    opened.push(own);
    await current(own);
    isGone = true;
    own.expireAll();
    await expect(current(own)).rejects.toThrow('gone');
    isGone = false;
    await expect(current(own)).resolves.toHaveProperty('isCached', true);
  });
});

/** Counts the reads of the memory during the work. Statements are not counted, because polls send some as well. */
async function readsOf<Result>(
  work: () => Result,
): Promise<{ result: Awaited<Result>; reads: ReferenceMemory['counts'] }> {
  const before = { ...memory.counts };
  const result = await work();
  const { check, delta, whole } = memory.counts;
  return {
    result,
    reads: { check: check - before.check, delta: delta - before.delta, whole: whole - before.whole },
  };
}
