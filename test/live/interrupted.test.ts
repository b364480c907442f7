import { expect, it } from '@jest/globals';
import { createClient } from 'graphql-sse';
import pg from 'pg';
import { sql } from 'kysely';
import { newUuid } from '../../src/resolvers/ids.ts';
import { startApp } from '../support/app.ts';
import { startSecondServer } from '../support/server-processes.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { startProxy } from './cut-proxy.ts';
import { numberAllChanges } from './logged.ts';
import { importExample } from './page-code.ts';
import { newestCursor, nextAnswer, subscribe } from './subscribing.ts';
import { hasServer, urlOf } from '../db/engines.ts';

const { app, world, ada } = useIssueWorld();

const onPostgres = hasServer ? it : it.skip;
const document = 'subscription ($after: String) { changes(after: $after) { subjectId } }';
const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

type Subscribe = (
  url: string,
  token: string,
  cursor: string,
  onChange: (change: { subjectId: string }) => void,
  onEnd: (reason: unknown) => void,
) => () => void;

/** The client of graphql-sse, as docs/live.md shows it, with the ids of all issues that it has received. */
async function follow(url: string) {
  const subscribePage = await importExample<Subscribe>('subscribe', { createClient });
  const receivedIds: string[] = [];
  const endReasons: unknown[] = [];
  let wake: () => void = () => undefined;
  const stop = subscribePage(
    url,
    world.ada.token,
    await newestCursor(app),
    ({ subjectId }) => {
      receivedIds.push(subjectId);
      wake();
    },
    (reason) => {
      endReasons.push(reason);
      wake();
    },
  );
  const waitFor = async (id: string) => {
    while (!receivedIds.includes(id) && endReasons.length === 0)
      await new Promise<void>((resolve) => (wake = resolve));
    if (endReasons.length > 0) throw new Error(`The stream has ended: ${String(endReasons[0])}`);
  };
  return { receivedIds, waitFor, stop };
}

it('the client of graphql-sse receives each change once, whenever its connection breaks', async () => {
  const proxy = await startProxy(app.url);
  const client = await follow(proxy.url);
  const createdIds: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const issues = await Promise.all([newIssue(), newIssue(), newIssue()]);
    createdIds.push(...issues.map(({ id }) => id));
    if (round % 2 === 0) for (const { id } of issues) await client.waitFor(id);
    proxy.redirect(app.url);
  }
  const { id } = await newIssue();
  await client.waitFor(id);
  expect(client.receivedIds.toSorted()).toEqual([...createdIds, id].toSorted());
  client.stop();
  await proxy.stop();
});

it('a stream receives changes that another process has numbered, although its notification was lost', async () => {
  // The log of the workspace begins with its first change.
  await newIssue();
  const stream = await subscribe(
    app,
    document,
    { after: await newestCursor(app) },
    { token: world.ada.token },
  );
  const [id, subjectId] = [newUuid(), newUuid()];
  // This is the state after a write of another process whose notification was lost: the inbox is empty.
  await sql`
    with head as (
      update change_head set position = position + 1, tag = 5 where workspace_id = ${app.workspaceId} returning position
    )
    insert into change (workspace_id, position, tag, id, sort_order, event_type, occurred_utc, subject_id, fields, origin)
    select ${app.workspaceId}, position, 5, ${id}, 0, 'label.created.v1', now(), ${subjectId}, '{}', 3 from head`.execute(
    app.database.unscoped,
  );
  const { answer } = await nextAnswer(stream);
  expect(answer.data?.changes).toEqual({ subjectId: expect.stringContaining('label_') });
  stream.stop();
});

it('a stream ends without `complete` when the server stops, so that its client reconnects', async () => {
  const otherApp = await startApp({ sharesDatabase: true });
  const stream = await subscribe(otherApp, document, {}, { token: otherApp.token });
  await otherApp.stop();
  await stream.ended;
  await expect(stream.next()).rejects.toThrow('has ended');
});

onPostgres('a client receives each change once when all backends of its server are terminated', async () => {
  const client = await follow(app.url);
  const before = await newIssue();
  await client.waitFor(before.id);
  const admin = new pg.Client({ connectionString: await urlOf(app.database) });
  await admin.connect();
  await admin.query(`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await admin.end();
  let after: { id: string } | undefined;
  // The first statements may use a connection that has been terminated.
  while (!after) after = await newIssue().catch(() => undefined);
  await client.waitFor(after.id);
  expect(client.receivedIds.filter((id) => id === before.id || id === after.id)).toEqual([
    before.id,
    after.id,
  ]);
  client.stop();
});

onPostgres('a client continues at another server when its own is killed', async () => {
  await using second = await startSecondServer(app);
  if (!second) throw new Error('PostgreSQL takes a second server.');
  const proxy = await startProxy(second.url);
  const client = await follow(proxy.url);
  const one = await newIssue();
  await client.waitFor(one.id);
  await second.kill();
  const two = await newIssue();
  proxy.redirect(app.url);
  const three = await newIssue();
  await client.waitFor(three.id);
  await numberAllChanges(app.database);
  expect(client.receivedIds).toEqual([one.id, two.id, three.id]);
  client.stop();
  await proxy.stop();
});
