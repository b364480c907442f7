import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ settings: { CLIENT_TIMEOUT_MS: '300', MAX_CONCURRENCY: '1' } });
}, 60_000);
afterAll(() => app.stop());

/** All that comes back on a connection until it is closed from the other side. */
async function cutAfter(sent: string): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let received = '';
  socket.on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  socket.write(sent);
  await once(socket, 'close');
  return received;
}

const start = () => `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\n`;

it.each([
  ['nothing', () => ''],
  ['half a line', () => 'POST /gra'],
  ['headers without an end', start],
])('cuts who sends %s', async (_what, sent) => {
  expect(await cutAfter(sent())).toMatch(/^HTTP\/1\.1 408 [^]*request_timeout/);
});

it('the server disconnects a client that does not send the rest of a body', async () => {
  const headers = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n';
  const answer = await cutAfter(`${start()}${headers}{"query":`);
  expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*REQUEST_TIMEOUT/);
});

it('the server answers other clients while many are slow', async () => {
  const slow = Array.from({ length: 100 }, () => cutAfter(start()));
  expect((await app.request('GET', '/v1/teams')).status).toBe(200);
  for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});
