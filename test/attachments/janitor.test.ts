import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { alone } from '../../src/db/housekeeping.ts';
import { abandonedUploads, longDeletedIssues } from '../../src/resolvers/housekeeping.ts';
import { tidy } from '../../src/server/janitor.ts';
import { type App, startApp } from '../support/app.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { type FileDesk, fileDesk, problemOf, put, random } from './files.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let app: App;
let desk: FileDesk;
const said: unknown[] = [];

beforeAll(async () => {
  app = await startApp();
  desk = await fileDesk(app);
});

afterEach(() => {
  said.length = 0;
});

afterAll(() => app.stop());

/** Runs a round of the janitor with the clock advanced. */
async function round(laterMs: number): Promise<void> {
  const chores = [abandonedUploads(app.database, app.store), longDeletedIssues(app.database, app.store)];
  const logger = {
    info: (object: unknown) => said.push(object),
    warn: (object: unknown) => said.push(object),
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
    const file = await desk.attach('stays.txt', 'text/plain', Buffer.from('stays'));
    const { uploadUrl } = await desk.create();
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
    expect(said).toEqual([{ done: 2 }]);
  });

  it('are removed together with the bytes of deleted attachments, in several batches', async () => {
    const before = kept();
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, index) => desk.attach(`${index}.txt`, 'text/plain', Buffer.from('x'))),
    );
    for (const { id } of made) await desk.remove(id);
    expect(kept()).toHaveLength(before.length + 60);
    await round(0);
    expect(kept()).toEqual(before);
    expect(said).toEqual([{ done: 60 }]);
  });
});

describe('issues that were deleted', () => {
  let world: IssueWorld;
  let ada: Caller;

  it('are removed after thirty days with everything that belongs to them, and their numbers are not reused', async () => {
    const own = await app.secondWorkspace();
    world = await issueWorld(app, own);
    ada = callerOf(app, world.ada.token);
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
    const { code } = await ada.refused('issueRestore', { key });
    expect(code).toBe('NOT_FOUND');
    await ada.mutate('issueDelete', { key: child.key });
    await round(31 * dayMs);
    expect(await counts()).toEqual(before);
    expect(kept()).toEqual(files);
    expect(await ada.read(parent.key)).toMatchObject({ title: 'Stays', subIssueCount: 0 });
    const next = await ada.create({ teamId, title: 'Next' });
    expect(Number(next.key.split('-')[1])).toBe(Number(child.key.split('-')[1]) + 1);
  });

  it('have more time to be removed than a request has', async () => {
    const { unscoped } = app.database;
    const { key } = await ada.create({ teamId: world.eng.id, title: 'Has many comments' });
    await ada.mutate('commentCreate', { issueKey: key, body: 'One of many' });
    await ada.mutate('issueDelete', { key });
    await sql`create table seen (value text)`.execute(unscoped);
    await sql`
      create function see_timeout() returns trigger language plpgsql as $$ begin
        insert into seen values (current_setting('statement_timeout'));
        return null;
      end $$`.execute(unscoped);
    await sql`create trigger see after delete on comment for each statement execute function see_timeout()`.execute(
      unscoped,
    );
    await round(31 * dayMs);
    await sql`drop function see_timeout cascade`.execute(unscoped);
    const { rows } = await sql`select distinct value from seen`.execute(unscoped);
    await sql`drop table seen`.execute(unscoped);
    expect(rows).toEqual([{ value: '10min' }]);
  });

  async function attachTo(issueKey: string): Promise<void> {
    const { body } = await app.graphql<{ attachmentCreate: { uploadUrl: string } }>(
      'mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl } }',
      { input: { issueKey, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 3 } },
      { token: world.ada.token },
    );
    expect((await put(body.data?.attachmentCreate.uploadUrl ?? '', Buffer.from('abc'))).status).toBe(204);
  }
});

it('the janitor works in one process of a database at a time', async () => {
  if (app.database.engine === 'embedded') return;
  let end = (): void => undefined;
  let first: Promise<boolean> = Promise.resolve(false);
  await new Promise<void>((begun) => {
    first = alone(app.database, () => {
      begun();
      return new Promise<void>((resolve) => (end = resolve));
    });
  });
  const second = await alone(app.database, () => Promise.resolve());
  expect(second).toBe(false);
  end();
  expect(await first).toBe(true);
  expect(await alone(app.database, () => Promise.resolve())).toBe(true);
});

it('the janitor continues with the next task when one fails', async () => {
  const done: string[] = [];
  const chore = (name: string, doSome: () => Promise<number>) => ({ name, doSome });
  const fails = chore('a', () => Promise.reject(new Error('no')));
  const works = chore('b', async () => (done.push('b') > 2 ? 0 : 1));
  await tidy([fails, works], { info: (object: unknown) => said.push(object), warn: () => undefined });
  expect([done, said]).toEqual([['b', 'b', 'b'], [{ done: 2 }]]);
});
