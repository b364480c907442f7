import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';
import { type KeyedWorld, keyedWorld } from '../support/keyed-writes.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { systemActor } from '../../src/resolvers/audit.ts';

let place: TestDatabase;
beforeAll(async () => {
  place = await copyTemplate('migrated');
}, 120_000);
afterAll(() => place.drop());

it('a server killed between commit and answer has done the write, and says so when it is back', async () => {
  const { workspaceId, ownerToken } = await createWorkspace(place.database, systemActor, {
    name: 'Crash',
    ownerDisplayName: 'Olive Owner',
  });
  const { id } = await team(place.database, workspaceId, { code: 'ENG' });
  const location = await handOver();
  const body = JSON.stringify({ teamId: encodeId('team', id), title: 'T', description: '', priority: 0 });
  const headers = {
    Authorization: `Bearer ${ownerToken.token}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': newUuid(),
  };
  const dying = await start(location);
  const post = (url: string, more: Record<string, string> = {}) =>
    fetch(`${url}/v1/issues`, { method: 'POST', body, headers: { ...headers, ...more } });
  await expect(post(dying.url, { 'X-Die': 'now' })).rejects.toThrow('fetch failed');
  expect(await dying.exit).toEqual([null, 'SIGKILL']);

  const next = await start(location);
  const answers = [await post(next.url), await post(next.url)];
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await answer.json()).toMatchObject({ key: 'ENG-1', title: 'T' });
  }
  const list = await fetch(`${next.url}/v1/issues`, { headers });
  expect(await list.json()).toMatchObject({ pagination: { totalCount: 1 } });
  next.stop();
  expect(await next.exit).toEqual([0, null]);
}, 180_000);

it('a client that hangs up has done no harm: what it asked for is done once', async () => {
  const keyed: KeyedWorld = await keyedWorld(await startApp());
  try {
    const { key: issue } = await keyed.newThings();
    const key = keyed.newKey();
    const url = new URL(`/v1/issues/${issue}/comments`, keyed.app.url);
    const headers = {
      Authorization: `Bearer ${keyed.app.token}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    };
    const sent = request(url, { method: 'POST', headers });
    sent.on('error', () => undefined);
    await new Promise<void>((resolve) => {
      sent.end('{"body":"Said."}', resolve);
    });
    sent.destroy();
    const again = () => keyed.rest('POST', url.pathname, key, { body: 'Said.' });
    let answer = await again();
    while (answer.status === 409) answer = await again();
    expect(answer.status).toBe(201);
    expect((await again()).body).toEqual(answer.body);
    const list = await keyed.app.request('GET', url.pathname);
    // The one that was there, and this one.
    expect(list.body).toMatchObject({ pagination: { totalCount: 2 } });
  } finally {
    await keyed.app.stop();
  }
}, 120_000);

/** Where the servers find the database; the embedded one belongs to one process. */
async function handOver(): Promise<string> {
  const { database, dataDir } = place;
  if (database.engine === 'embedded') {
    await database.close();
    return dataDir;
  }
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.unscoped);
  const url = new URL(process.env.TEST_DATABASE_URL ?? '');
  url.pathname = `/${rows[0]?.name}`;
  return url.href;
}

async function start(location: string) {
  const script = join(import.meta.dirname, '../support/dying-server-process.ts');
  const child = spawn(process.execPath, [script, location], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { url, exit, stop: () => child.stdin.end() };
}
