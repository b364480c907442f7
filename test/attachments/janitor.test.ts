import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { withJanitorLock } from '../../src/db/housekeeping.ts';
import { abandonedUploads, longDeletedIssues } from '../../src/resolvers/housekeeping.ts';
import { verifyFiles } from '../../src/portability/verify-files.ts';
import { verifyDatabase } from '../../src/portability/verify.ts';
import { tidy } from '../../src/server/janitor.ts';
import { hasServer, newServerDatabase } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { type AttachmentCaller, newAttachmentCaller, problemOf, put, random } from './files.ts';
import { uuidOf } from '../support/ids.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let app: App;
let caller: AttachmentCaller;
const logged: unknown[] = [];

beforeAll(async () => {
  app = await startApp();
  caller = await newAttachmentCaller(app);
  // The store makes it with the first file.
  mkdirSync(join(app.dataDir, 'files'));
});

afterEach(() => {
  logged.length = 0;
});

afterAll(() => app.stop());

/** Runs a round of the janitor with the clock advanced. */
async function round(laterMs: number): Promise<void> {
  const chores = [abandonedUploads(app.database, app.store), longDeletedIssues(app.database, app.store)];
  const logger = {
    info: (object: unknown) => logged.push(object),
    warn: (object: unknown) => logged.push(object),
  };
  await tidy(chores, logger, () => false, new Date(Date.now() + laterMs));
}

function kept(): string[] {
  return readdirSync(join(app.dataDir, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();
}

async function count(table: string): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::int as count from ${sql.table(table)}`.execute(app.database.unscoped);
  return rows[0]?.count ?? Number.NaN;
}

describe('abandoned uploads', () => {
  it('are removed after an hour with their files, and finished ones are kept', async () => {
    const file = await caller.attach('stays.txt', 'text/plain', Buffer.from('stays'));
    const { uploadUrl } = await caller.create();
    const files = kept();
    const rows = await count('attachment');
    // The remains of a killed process.
    const partial = join(app.dataDir, 'files/.partial/left');
    mkdirSync(join(app.dataDir, 'files/.partial'), { recursive: true });
    writeFileSync(partial, 'half');
    await round(0);
    expect([await count('attachment'), existsSync(partial)]).toEqual([rows, true]);
    expect((await put(uploadUrl, random(4))).status).toBe(400);
    const longAgo = new Date(Date.now() - hourMs);
    utimesSync(partial, longAgo, longAgo);
    await round(hourMs + 1_000);
    expect([await count('attachment'), existsSync(partial)]).toEqual([rows - 1, false]);
    expect(kept()).toEqual(files);
    expect(await problemOf(await put(uploadUrl, random(5)))).toEqual([404, 'not_found']);
    expect((await fetch(file.signedDownloadUrl ?? '')).status).toBe(200);
    expect(logged).toEqual([{ done: 2 }]);
  });

  it('are removed together with the bytes of deleted attachments, in several batches', async () => {
    const before = kept();
    const attachments = await Promise.all(
      Array.from({ length: 60 }, (_, index) => caller.attach(`${index}.txt`, 'text/plain', Buffer.from('x'))),
    );
    for (const { id } of attachments) await caller.remove(id);
    expect(kept()).toHaveLength(before.length + 60);
    await round(0);
    expect(kept()).toEqual(before);
    expect(logged).toEqual([{ done: 60 }]);
  });
});

describe('issues that were deleted', () => {
  let world: IssueWorld;
  let ada: Caller;
  beforeAll(async () => {
    world = await issueWorld(app, await app.secondWorkspace());
    ada = callerOf(app, world.ada.token);
  });

  it('are removed after thirty days with everything that belongs to them, and their numbers are not reused', async () => {
    const tables = [
      'comment',
      'issue_link',
      'activity',
      'attachment',
      'agent_thread',
      'agent_thread_message',
    ];
    const more = ['issue', 'issue_assignee', 'issue_label', 'issue_subscription', 'issue_role_assignment'];
    const counts = async () => Promise.all([...tables, ...more].map(count));
    const teamId = world.eng.id;
    const parent = await ada.create({ teamId, title: 'Stays' });
    const before = await counts();
    const files = kept();
    const { key, id } = await ada.create({
      teamId,
      title: 'Goes',
      parentIssueId: parent.id,
      primaryAssigneeUserAccountId: world.bob.id,
      labelIds: [world.shared],
      roleAssignments: [{ role: 'reviewer', userAccountId: world.bob.id }],
    });
    const child = await ada.create({ teamId, title: 'A child of it', parentIssueId: id });
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'First' });
    await ada.mutate('commentCreate', { issueKey: key, body: 'Reply', parentCommentId: comment.id });
    await ada.mutate('issueLinkCreate', { issueKey: key, url: 'https://example.com', title: 'A link' });
    const agent = callerOf(app, world.agent.token);
    await agent.mutate('agentMessageCreate', { issueKey: key, body: 'Done.' });
    await attachTo(key);
    await ada.mutate('issueDelete', { key });
    await round(30 * dayMs);
    expect((await ada.mutate('issueRestore', { key })).issue.key).toBe(key);
    await ada.mutate('issueDelete', { key });

    await round(30 * dayMs + hourMs + 1_000);
    const { code } = await ada.refusalOf('issueRestore', { key });
    expect(code).toBe('NOT_FOUND');
    await ada.mutate('issueDelete', { key: child.key });
    await round(31 * dayMs);
    expect(await counts()).toEqual(before);
    expect(kept()).toEqual(files);
    expect(await ada.read(parent.key)).toMatchObject({ title: 'Stays', subIssueCount: 0 });
    const next = await ada.create({ teamId, title: 'Next' });
    expect(Number(next.key.split('-')[1])).toBe(Number(child.key.split('-')[1]) + 1);
  });

  it('are removed by short transactions, between which every rule of verify holds', async () => {
    const { unscoped } = app.database;
    const own = await app.secondWorkspace();
    const { ada: eve, eng } = await issueWorld(app, own);
    const author = callerOf(app, eve.token);
    const { key, id } = await author.create({ teamId: eng.id, title: 'Has many comments' });
    await author.mutate('commentCreate', { issueKey: key, body: 'One of many' });
    await attachTo(key, eve.token);
    await author.mutate('issueDelete', { key });
    // Numbers may be missing in a team that is old enough.
    await sql`update team set created_utc = now() - interval '60 days' where workspace_id = ${own.workspaceId}`.execute(
      unscoped,
    );
    const agedId = await age(uuidOf(id));
    // Each comment answers one of another batch, either an older or a newer one.
    await sql`
      with made as (
        select c.*, n, gen_random_uuid() as made_id from comment c, generate_series(1, 2300) n where issue_id = ${agedId}
      ), placed as (
        select *, lag(made_id, 1100) over (order by n) as older, lead(made_id, 1100) over (order by n) as newer from made
      )
      insert into comment (workspace_id, id, issue_id, parent_comment_id, author_user_account_id, body, created_utc, updated_utc)
      select workspace_id, made_id, issue_id, case when n % 2 = 0 then older when n < 1100 then newer end,
        author_user_account_id, 'x', created_utc, updated_utc from placed`.execute(unscoped);
    await sql`
      insert into import_source (workspace_id, source, kind, source_id, target_id)
      select workspace_id, 'there', 'comment', id::text, id from comment where issue_id = ${agedId} and body = 'x'`.execute(
      unscoped,
    );
    await sql`create table removed (transaction text, rows int)`.execute(unscoped);
    await sql`
      create function count_removed() returns trigger language plpgsql as $$ begin
        insert into removed select pg_current_xact_id()::text, count(*) from gone;
        return null;
      end $$`.execute(unscoped);
    await sql`
      create trigger count_removed after delete on comment referencing old table as gone
      for each statement execute function count_removed()`.execute(unscoped);
    // Each step is that of another process, as if the one before had ended. The janitor of the server may take part.
    for (let some = -1; some !== 0; ) {
      some = await longDeletedIssues(app.database, app.store).doSome(new Date());
      expect((await verifyDatabase(app.database, own)).findings).toEqual([]);
      expect(await verifyFiles(app.database, app.store)).toBeUndefined();
    }
    await sql`drop function count_removed cascade`.execute(unscoped);
    const { rows } = await sql<{ rows: number }>`
      select sum(rows)::int as rows from removed group by transaction having sum(rows) > 0`.execute(unscoped);
    await sql`drop table removed`.execute(unscoped);
    const removed = rows.map((one) => one.rows);
    expect(Math.max(...removed)).toBeLessThanOrEqual(1_000);
    expect(removed.reduce((sum, one) => sum + one, 0)).toBe(2_301);
    expect(removed.length).toBeGreaterThanOrEqual(3);
    const left = sql<{ left: number }>`select count(*)::int as left from issue where id = ${agedId}`;
    expect((await left.execute(unscoped)).rows).toEqual([{ left: 0 }]);
  });

  it('hold up no others, of any workspace, if they cannot be removed', async () => {
    const { unscoped } = app.database;
    const teamId = world.eng.id;
    const other = await app.secondWorkspace();
    const there = await issueWorld(app, other);
    const eve = callerOf(app, there.ada.token);
    const stays = await ada.create({ teamId, title: 'Cannot be removed' });
    await ada.mutate('commentCreate', { issueKey: stays.key, body: 'Stays' });
    await ada.mutate('issueDelete', { key: stays.key });
    const [near, far] = [
      await ada.create({ teamId, title: 'Goes' }),
      await eve.create({ teamId: there.eng.id, title: 'Goes, too' }),
    ];
    await ada.mutate('issueDelete', { key: near.key });
    await eve.mutate('issueDelete', { key: far.key });
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin
        raise exception 'not this one';
      end $$`.execute(unscoped);
    await sql`
      create trigger refuse before delete on comment for each row when (old.body = 'Stays')
      execute function refuse()`.execute(unscoped);
    const left = async () => {
      const ids = [stays, near, far].map(({ id }) => uuidOf(id));
      const { rows } = await sql<{ title: string }>`
        select title from issue where id = any(${ids}::uuid[])`.execute(unscoped);
      return rows.map(({ title }) => title);
    };
    await round(31 * dayMs);
    expect(await left()).toEqual(['Cannot be removed']);
    expect(logged).toContainEqual({ err: expect.objectContaining({ message: 'not this one' }) });
    await sql`drop function refuse cascade`.execute(unscoped);
    await round(31 * dayMs);
    expect(await left()).toEqual([]);
  });

  it('never have files that are named but gone, if their removal is interrupted', async () => {
    const { unscoped } = app.database;
    const files = kept();
    const rows = await count('attachment');
    const { key } = await ada.create({ teamId: world.eng.id, title: 'Has a file' });
    await attachTo(key);
    await ada.mutate('issueDelete', { key });
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin
        raise exception 'not now';
      end $$`.execute(unscoped);
    await sql`create trigger refuse before delete on attachment for each row execute function refuse()`.execute(
      unscoped,
    );
    await round(31 * dayMs);
    expect(await verifyFiles(app.database, app.store)).toBeUndefined();
    expect(await count('attachment')).toBe(rows + 1);
    await sql`drop function refuse cascade`.execute(unscoped);
    await round(31 * dayMs);
    expect([kept(), await count('attachment')]).toEqual([files, rows]);
  });

  /** Gives a deleted issue the id and the times that it would have if all this were forty days ago. Returns the id. */
  async function age(id: string): Promise<string> {
    const longAgo = new Date(Date.now() - 40 * dayMs);
    const hex = longAgo.getTime().toString(16).padStart(12, '0');
    const agedId = `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
    await app.database.unscoped.transaction().execute(async (trx) => {
      // No foreign key is checked meanwhile.
      await sql`set local session_replication_role = replica`.execute(trx);
      const { rows } = await sql<{ table: string }>`
        select table_name as "table" from information_schema.columns
        where column_name = 'issue_id' and table_schema = current_schema()`.execute(trx);
      for (const { table } of rows) {
        await sql`update ${sql.table(table)} set issue_id = ${agedId} where issue_id = ${id}`.execute(trx);
      }
      await sql`update issue set id = ${agedId}, deleted_utc = ${longAgo} where id = ${id}`.execute(trx);
    });
    return agedId;
  }

  async function attachTo(issueKey: string, token = world.ada.token): Promise<void> {
    const { body } = await app.graphql<{ attachmentCreate: { uploadUrl: string } }>(
      'mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl } }',
      { input: { issueKey, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 3 } },
      { token },
    );
    expect((await put(body.data?.attachmentCreate.uploadUrl ?? '', Buffer.from('abc'))).status).toBe(204);
  }
});

it('the janitor works once at a time on a database, in all processes together', async () => {
  const temporary = hasServer ? await newServerDatabase() : undefined;
  const first = temporary ? await openDatabase(temporary.location) : app.database;
  const ofAnother = temporary ? await openDatabase(temporary.location) : app.database;
  let end = (): void => undefined;
  let running: Promise<boolean> = Promise.resolve(false);
  await new Promise<void>((begun) => {
    running = withJanitorLock(first, () => {
      begun();
      return new Promise<void>((resolve) => (end = resolve));
    });
  });
  for (const database of [first, ofAnother]) {
    expect(await withJanitorLock(database, () => Promise.resolve())).toBe(false);
  }
  end();
  expect(await running).toBe(true);
  expect(await withJanitorLock(ofAnother, () => Promise.resolve())).toBe(true);
  if (!temporary) return;
  await Promise.all([first.close(), ofAnother.close()]);
  await temporary.remove();
});

(hasServer ? it : it.skip)('the janitor works where the pool has one connection', async () => {
  const temporary = await newServerDatabase();
  const database = await openDatabase({ ...temporary.location, poolSize: 1, waitMs: 500 });
  let found: unknown;
  const ran = await withJanitorLock(database, async () => {
    await database.unscoped.transaction().execute(async (trx) => {
      found = (await sql`select 1 as one`.execute(trx)).rows;
    });
  });
  expect([ran, found, database.load().size]).toEqual([true, [{ one: 1 }], 1]);
  await database.close();
  await temporary.remove();
});

it('the janitor continues with the next task when one fails', async () => {
  const done: string[] = [];
  const chore = (name: string, doSome: () => Promise<number>) => ({ name, doSome });
  const fails = chore('a', () => Promise.reject(new Error('no')));
  const works = chore('b', async () => (done.push('b') > 2 ? 0 : 1));
  await tidy([fails, works], { info: (object: unknown) => logged.push(object), warn: () => undefined });
  expect([done, logged]).toEqual([['b', 'b', 'b'], [{ done: 2 }]]);
});
