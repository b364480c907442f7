import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { httpClient } from '../support/http-client.ts';
import { startApp } from '../support/app.ts';
import { issueWorld } from '../support/issue-world.ts';
import { callerOf } from '../support/mutations.ts';
import { webhookCalls } from './calls.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';

const settings = { WEBHOOK_NETWORKS: '127.0.0.1', SIGNING_KEYS: 'k'.repeat(32) };
const script = join(import.meta.dirname, 'server-process.ts');
const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

async function startProcess(location: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [script, location, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url };
}

const serverUrl = process.env.TEST_DATABASE_URL;
// Only one process can use the embedded engine, so no other could take over from a killed one.
const onPostgres = serverUrl ? it : it.skip;

onPostgres(
  'nothing is lost and nothing overtakes within an issue when servers are killed while they deliver',
  async () => {
    const app = await startApp({ settings });
    const world = await issueWorld(app);
    const ada = callerOf(app, world.ada.token);
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(
      app.database.unscoped,
    );
    const location = new URL(serverUrl ?? '');
    location.pathname = `/${rows[0]?.name}`;
    const receiver = await startReceiver();
    const { call, read } = webhookCalls(app);
    const { webhook } = await call('webhookCreate', { url: receiver.url });
    const issues = await Promise.all(
      [1, 2, 3, 4, 5].map((number) => ada.create({ teamId: world.eng.id, title: `Issue ${number}` })),
    );
    let written = issues.length;
    for (let round = 1; round <= 2; round += 1) {
      // This server writes, so it hears of the change first and delivers it.
      const { child, url } = await startProcess(location.href);
      const there = callerOf(httpClient(url, app.token), world.ada.token);
      const seen = receiver.all.length;
      for (let number = 0; number < 6; number += 1) {
        await Promise.all(
          issues.map(({ key }) =>
            there.mutate('commentCreate', { issueKey: key, body: `${round}.${number}` }),
          ),
        );
        written += issues.length;
      }
      await receiver.until(seen + 1);
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await eventually(async () => {
      const { waitingCount = 1, backlog = 1 } = (await read(webhook.id)) ?? {};
      return waitingCount === 0 && backlog === 0;
    });
    const first = new Map(receiver.all.map((message) => [message.id, message]));
    expect(first.size).toBe(written);
    for (const { id } of issues) {
      const seen = new Set<string>();
      const positions = receiver.all
        .filter(({ data }) => (data.issue as { id: string }).id === id)
        .filter((message) => !seen.has(message.id) && seen.add(message.id))
        .map(({ data }) => Number((data.change as { position: string }).position));
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    }
    receiver.close();
    await app.stop();
  },
  180_000,
);
