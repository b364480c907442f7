import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type SharedApp, sharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

describe('every answer', () => {
  it.each(['/graphql?query={health{status}}', '/health', '/nowhere', '/'])(
    '%s has the headers',
    async (path) => {
      const { headers } = await app.request('GET', path, { token: null });
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get('server-timing')).toMatch(/^sql;desc="0 statements";dur=\d/);
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );

  it('repeats the request id of the client if it is fit for a log', async () => {
    const idOf = async (id: string) =>
      (await app.request('GET', '/health', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await idOf('trace/00-4bf92f:7')).toBe('trace/00-4bf92f:7');
    for (const bad of ['two words', 'x'.repeat(200), '"{}"']) expect(await idOf(bad)).not.toBe(bad);
  });

  it('says how many statements it took', async () => {
    expect((await app.graphql('{ viewer { scopes } }')).statements).toBe(0);
    expect((await app.graphql('{ viewer { scopes } issues { nodes { id } } }')).statements).toBe(1);
  });
});

it('an unknown path is answered with a problem', async () => {
  const answer = await app.request('GET', '/nowhere');
  expect(answer).toMatchObject({
    status: 404,
    body: { type: 'about:blank', status: 404, code: 'not_found', errors: [] },
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
});

it('dots, slashes and schemes in a request target are not normalized', async () => {
  for (const target of ['//health', '/x/../health', '/health/', '/HEALTH', 'http://evil.example/health']) {
    const status = await exchange(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([target, status.slice(9, 12)]).toEqual([target, target.startsWith('http:') ? '200' : '404']);
  }
});

describe('a body of a request', () => {
  const tooLarge = 1_000_001;

  it('is answered 413 before it is sent when its Content-Length is too large', async () => {
    const answer = await exchange(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${tooLarge}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toContain('PAYLOAD_TOO_LARGE');
  });

  it.each(['/graphql', '/v1/issues'])(
    'is answered 413 as soon as it is too large when it has no Content-Length, %s',
    async (path) => {
      const answer = await sendChunks(path, app.token, 3_000_000);
      expect(answer.text).toMatch(/^HTTP\/1.1 413 /);
      expect(answer.text.toLowerCase()).toContain('payload_too_large');
      expect(answer.sentBytes).toBeLessThan(3_000_000);
    },
  );

  it('is not read if the caller is not authenticated', async () => {
    const answer = await sendChunks('/graphql', 'none', 3_000_000);
    expect(answer.text).toMatch(/^HTTP\/1.1 401 /);
  });

  it('is not read any further when its chunks have a byte each', async () => {
    const head =
      'HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunks = (body: string) => body.replaceAll(/./gs, (byte) => `1\r\n${byte}\r\n`);
    const body = JSON.stringify({ query: '{ health { status } }' });
    const answer = await exchange(`POST /graphql ${head}${chunks(body.padEnd(200_000))}0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('The chunks of the body are too small.');
    // A short body may have any chunks, and a large request may follow it.
    const small = `POST /graphql ${head}${chunks(body)}0\r\n\r\n`;
    const next = `POST /graphql ${head}ea60\r\n${body.padEnd(60_000)}\r\n0\r\n\r\n`;
    const answers = await exchange(small + next.replace('Host: x', 'Host: x\r\nConnection: close'));
    expect(answers.match(/"status":"ok"/gi)).toHaveLength(2);
  });

  it('is accepted when it has exactly the size of the limit', async () => {
    const body = JSON.stringify({ query: '{ health { status } }', padding: '' });
    const padded = body.replace('""', `"${'x'.repeat(1_000_000 - body.length)}"`);
    expect(padded).toHaveLength(1_000_000);
    expect((await app.request('POST', '/graphql', { body: padded })).status).toBe(200);
  });
});

it('bytes that are not HTTP are answered with a problem, and the connection is closed', async () => {
  const answer = await exchange('HELLO\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain('application/problem+json');
});

describe('pages', () => {
  it('GraphiQL is complete, may connect only to this server and contains no token', async () => {
    const answer = await app.request<string>('GET', '/graphql', {
      token: null,
      headers: { accept: 'text/html' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("connect-src 'self'");
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const [head = ''] = answer.body.split('<script>');
    expect(head.match(/<(script|link|img|iframe)[^>]+(src|href)="(?!data:|\/assets\/)/g)).toBeNull();
    expect(answer.body).toContain('Bearer <paste the token printed at start>');
    expect(answer.body).toContain('query Dashboard');
    expect(answer.body).not.toMatch(/wg_[0-9a-f]{48}/);
    const etag = answer.headers.get('etag') ?? '';
    const again = await app.request('GET', '/graphql', {
      headers: { accept: 'text/html', 'if-none-match': etag },
    });
    expect(again).toMatchObject({ status: 304, body: '' });
  });
});

/** Sends bytes unchanged, and returns everything that arrives until the server closes the connection, or for three seconds. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.write(bytes);
  await Promise.race([once(socket, 'close'), delay(3_000, undefined, { ref: false })]);
  socket.destroy();
  return answer;
}

/** Sends a body in chunks until it is complete or an answer begins. Returns the answer, and how much of the body was sent. */
async function sendChunks(
  path: string,
  token: string,
  bytes: number,
): Promise<{ text: string; sentBytes: number }> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  const answer = { text: '', sentBytes: 0 };
  socket.on('data', (chunk) => (answer.text += String(chunk)));
  socket.on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  await eventually(() => {
    if (answer.sentBytes >= bytes || answer.text !== '') return true;
    socket.write(`186a0\r\n${'x'.repeat(100_000)}\r\n`);
    answer.sentBytes += 100_000;
    return false;
  });
  // The body arrives after the head, much later on a busy machine.
  await eventually(() => answer.text.endsWith('}'));
  socket.destroy();
  return answer;
}
