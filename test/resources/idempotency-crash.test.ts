import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { team } from '../support/fixtures.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { urlOf } from '../db/engines.ts';
import { startServerProcess } from '../support/server-processes.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
});
afterAll(() => testDatabase.drop());

it('a write whose server was killed between commit and answer is replayed after a restart', async () => {
  const { workspaceId, ownerToken } = await createWorkspace(testDatabase.database, systemActor, {
    name: 'Crash',
    ownerDisplayName: 'Olive Owner',
  });
  const { id } = await team(testDatabase.database, workspaceId, { code: 'ENG' });
  const location = await handOver();
  const body = JSON.stringify({ teamId: encodeId('team', id), title: 'T', description: '', priority: 0 });
  const headers = {
    Authorization: `Bearer ${ownerToken.token}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': newUuid(),
  };
  await using dying = await startServerProcess(location);
  const post = (url: string, more: Record<string, string> = {}) =>
    fetch(`${url}/v1/issues`, { method: 'POST', body, headers: { ...headers, ...more } });
  await expect(post(dying.url, { 'X-Die': 'now' })).rejects.toThrow('fetch failed');
  expect(await dying.exit).toEqual([null, 'SIGKILL']);

  await using next = await startServerProcess(location);
  const answers = [await post(next.url), await post(next.url)];
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await answer.json()).toMatchObject({ key: 'ENG-1', title: 'T' });
  }
  const list = await fetch(`${next.url}/v1/issues`, { headers });
  expect(await list.json()).toMatchObject({ pagination: { totalCount: 1 } });
  await next.stop();
  expect(await next.exit).toEqual([0, null]);
});

/** Returns the location of the database for other processes, and closes an embedded one, which belongs to one process. */
async function handOver(): Promise<string> {
  const { database, dataDir } = testDatabase;
  if (database.engine === 'embedded') {
    await database.close();
    return dataDir;
  }
  return urlOf(database);
}
