import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxBodyBytes } from '../../src/executor/limits.ts';
import { type App, startApp } from '../support/app.ts';

const unknownToken = `wg_${'1'.repeat(48)}`;
let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { UNKNOWN_TOKENS_PER_MINUTE: '1' } });
  // The server knows this token even after the address has used up its quota of unknown tokens.
  expect((await app.request('GET', '/v1/teams')).status).toBe(200);
  expect((await app.request('GET', '/v1/teams', { token: unknownToken })).status).toBe(401);
});
afterAll(() => app.stop());

/** Opens a connection and begins a POST. It reads nothing before `readAnswers`. */
async function beginPost(token: string, field: string): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // Without a listener, a reset would end the process instead of the write.
  socket.on('error', () => undefined);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${field}\r\n\r\n`,
  );
  return socket;
}

/** Resolves when the bytes have left this process; rejects if the connection is closed before. */
function sendBytes(socket: Socket, bytes: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reads until this number of answers have arrived, or until the server closes the connection. */
async function readAnswers(socket: Socket, count: number): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('latin1').iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.split('"requestId"').length > count) break;
  }
  return text;
}

const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
const end = '0\r\n\r\n';
const get = `GET /v1/teams HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${unknownToken}\r\n\r\n`;

describe('an early refusal', () => {
  it.each([
    ['of a known length', `Content-Length: ${8 * maxBodyBytes}`, 'x'.repeat(8 * maxBodyBytes)],
    ['in chunks', 'Transfer-Encoding: chunked', chunk(8 * maxBodyBytes) + end],
  ])('reaches a client that sends a long body %s before it reads', async (_, field, body) => {
    const socket = await beginPost(unknownToken, field);
    await sendBytes(socket, body);
    expect(await readAnswers(socket, 1)).toMatch(/^HTTP\/1\.1 429 [^]*RATE_LIMITED/);
    socket.destroy();
  });

  it('keeps the connection open after a short body in chunks', async () => {
    const socket = await beginPost(unknownToken, 'Transfer-Encoding: chunked');
    await sendBytes(socket, chunk(10) + end + get);
    expect(await readAnswers(socket, 2)).toMatch(/^HTTP\/1\.1 429 [^]*keep-alive[^]*HTTP\/1\.1 429 /);
    socket.destroy();
  });

  it('closes the connection of a client that does not end a long body in chunks', async () => {
    const socket = await beginPost(unknownToken, 'Transfer-Encoding: chunked');
    await sendBytes(socket, chunk(100_000));
    expect(await readAnswers(socket, 2)).toMatch(/^HTTP\/1\.1 429 /);
  });
});

describe('a refusal of a body in chunks that is too large', () => {
  it('reaches a client that sends all of it before it reads', async () => {
    const socket = await beginPost(app.token, 'Transfer-Encoding: chunked');
    for (let sentBytes = 0; sentBytes < 12 * maxBodyBytes; sentBytes += 100_000)
      await sendBytes(socket, chunk(100_000));
    await sendBytes(socket, end);
    expect(await readAnswers(socket, 1)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });
});
