import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { freePort } from '../support/ports.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';
import { eventually } from '../support/eventually.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });
const script = join(import.meta.dirname, '../../examples/webhook-receiver.js');
const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

async function start(port: number, secret: string): Promise<ChildProcess> {
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, LOG: log() };
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

const log = () => join(app.dataDir, 'webhooks.log');
const lines = () => (existsSync(log()) ? readFileSync(log(), 'utf8').trim().split('\n') : []);

it('the example receiver handles each message once, although it is killed and messages are repeated', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { call, read, deliveries } = webhookCalls(app);
  const { webhook, secret } = await call('webhookCreate', { url });
  const { id } = webhook;
  const first = await start(port, secret);
  const { key } = await ada.create({ teamId: world.eng.id, title: 'First' });
  await eventually(() => Promise.resolve(lines().length === 1));
  first.kill('SIGKILL');
  await once(first, 'exit');
  await ada.mutate('commentCreate', { issueKey: key, body: 'While it is down.' });
  await eventually(async () => ((await read(id))?.failures ?? 0) > 0);
  await start(port, secret);
  await call('webhookUpdate', { id, state: 'DISABLED' });
  await call('webhookUpdate', { id, state: 'ACTIVE' });
  await eventually(() => Promise.resolve(lines().length === 2));
  await eventually(async () => (await read(id))?.waitingCount === 0);
  const ids = (await deliveries(id)).map((delivery) => delivery.id);
  expect(await call('webhookDeliveryRedeliver', { ids })).toEqual({ count: 2 });
  await eventually(async () => (await read(id))?.waitingCount === 0);
  expect((await deliveries(id)).map(({ state }) => state)).toEqual(['DELIVERED', 'DELIVERED']);
  expect(lines().map((line) => line.split(' ').slice(1))).toEqual([
    ['issue.created.v1', key],
    ['issue-comment.created.v1', key],
  ]);
  const forged = await fetch(url, {
    method: 'POST',
    headers: {
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,AAAA',
    },
    body: '{}',
  });
  expect(forged.status).toBe(401);
});

it('the example receiver continues after a connection that ends early, and refuses a body that is too long', async () => {
  const port = await freePort();
  const child = await start(port, 'whsec_AAAA');
  const socket = connect(port, '127.0.0.1').resume();
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly this');
  await ended;
  const long = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x'.repeat(1_000_001) });
  expect(long.status).toBe(413);
  expect(child.exitCode).toBeNull();
});
