import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { httpViolation } from '../../src/server/http/http-rules.ts';
import { type SharedApp, sharedApp } from '../support/shared-app.ts';
import { sendRaw } from '../support/raw-http.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

const paths = ['/', '/health', '/graphql', '/v1/teams', '/files/x/content', '/nowhere'];
const close = 'Connection: close\r\n\r\n';

describe('a request whose Host breaks HTTP', () => {
  it.each([
    ['has no Host', ''],
    ['has two Host lines', 'Host: a.example\r\nHost: b.example\r\n'],
    ['has the same Host line twice', 'Host: a.example\r\nhOST: a.example\r\n'],
    ['has an empty Host', 'Host:\r\n'],
    ['has a Host with a space', 'Host: a b\r\n'],
    ['has a Host with a user', 'Host: user@a.example\r\n'],
    ['has a Host with a path', 'Host: a.example/b\r\n'],
    ['has a URL as its Host', 'Host: http://a.example\r\n'],
    ['has a Host with markup', 'Host: "><script>\r\n'],
    ['has a port that is not a number', 'Host: a.example:http\r\n'],
    ['has a port that does not exist', 'Host: a.example:65536\r\n'],
    ['has an address of IPv6 without brackets', 'Host: ::1\r\n'],
    ['has an invalid address of IPv6', 'Host: [1::2::3]\r\n'],
    ['has a half percent-encoded Host', 'Host: a%2\r\n'],
  ])('is refused with 400 on every path when it %s', async (_what, host) => {
    for (const path of paths) {
      const answer = await sendRaw(app.url, `GET ${path} HTTP/1.1\r\n${host}${close}`);
      expect([path, answer.status]).toEqual([path, 400]);
      expect(JSON.parse(answer.body)).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it('has its connection closed, so that nothing behind it is taken for a request', async () => {
    const next = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
    const { body } = await sendRaw(app.url, `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${next}`);
    expect(body).not.toContain('HTTP/1.1 200');
  });
});

describe('a header with which the client negotiates', () => {
  const answerTo = (path: string, name: string, value: string) =>
    sendRaw(app.url, `GET ${path} HTTP/1.1\r\nHost: x\r\n${name}: ${value}\r\n${close}`);

  it.each(['Accept', 'Accept-Encoding'])('is refused on every path when it is long: %s', async (header) => {
    for (const path of paths) {
      const answer = await answerTo(path, header, 'a/b,'.repeat(251));
      expect([path, answer.status]).toEqual([path, 431]);
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'headers_too_large' });
    }
  });

  it('is accepted with a thousand characters', async () => {
    expect((await answerTo('/health', 'Accept', `${'a/b,'.repeat(249)}*/*`)).status).toBe(200);
  });
});

const nameCharacter = fc.constantFrom(..."aZ09-._~!$&'()*+,;=".split(''), '%20', '%aF');
const name = fc.array(nameCharacter, { minLength: 1, maxLength: 40 }).map((parts) => parts.join(''));
const address = fc.oneof(
  name,
  fc.ipV4(),
  fc.ipV6().map((text) => `[${text}]`),
);
const port = fc.option(
  fc.integer({ min: 0, max: 65_535 }).map((number) => `:${number}`),
  { nil: '' },
);
const validHost = fc.tuple(address, port).map((parts) => parts.join(''));

const violationOf = (host: string) =>
  httpViolation({ httpVersion: '1.1', httpVersionMajor: 1, rawHeaders: ['Host', host], headers: { host } });

it('the server accepts every host of the grammar of URIs', () => {
  fc.assert(fc.property(validHost, (host) => expect(violationOf(host)).toBeUndefined()));
});

it('the server refuses every host with a character that the grammar does not have', () => {
  const foreign = fc.constantFrom(...' \t"#/<>?@\\^`{|}éß\u0000\u007f'.split(''));
  const spoilt = fc
    .tuple(name, foreign, fc.nat())
    .map(([host, character, at]) =>
      [host.slice(0, at % (host.length + 1)), character, host.slice(at % (host.length + 1))].join(''),
    );
  fc.assert(fc.property(spoilt, (host) => expect(violationOf(host)).toMatchObject({ status: 400 })));
});

it.each(['example.org', 'EXAMPLE.org:443', '127.0.0.1:4000', '[::1]:4000', 'a_b', 'xn--bcher-kva.example'])(
  'the server answers a request to %s',
  async (host) => {
    expect((await sendRaw(app.url, `GET /health HTTP/1.1\r\nHost: ${host}\r\n${close}`)).status).toBe(200);
  },
);

it('the server answers HTTP/1.0 without a Host', async () => {
  expect((await sendRaw(app.url, 'GET /health HTTP/1.0\r\n\r\n')).status).toBe(200);
});

it.each(['HTTP/2.0', 'HTTP/0.9', 'HTTP/9.9', 'HTTP/3.0', 'HTTP/1.2', 'HTTP/2', 'HTTP/11.1'])(
  'the server refuses %s with 505 on every path',
  async (version) => {
    for (const path of paths) {
      const answer = await sendRaw(app.url, `GET ${path} ${version}\r\nHost: x\r\n${close}`);
      expect([path, answer.status]).toEqual([path, 505]);
      expect(JSON.parse(answer.body)).toMatchObject({ status: 505, code: 'invalid_request' });
      expect(answer.headers.get('connection')).toBe('close');
    }
  },
);

it('the server refuses the preface of HTTP/2 with 505', async () => {
  expect((await sendRaw(app.url, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBe(505);
});

it.each(['HTTP/1.x', 'HTTP/', 'HTTP/x.1', 'HTTQ/1.1'])('the server refuses %s with 400', async (version) => {
  expect((await sendRaw(app.url, `GET / ${version}\r\nHost: x\r\n${close}`)).status).toBe(400);
});

describe('a request that is nearly HTTP', () => {
  const host = 'Host: x\r\n';
  const chunked = `POST /graphql HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
  const withHeader = (line: string) => `POST /graphql HTTP/1.1\r\n${host}${line}\r\n${close}`;
  it.each([
    ['has an unknown method', `FOO /v1/teams HTTP/1.1\r\n${host}${close}`, 501, 'method FOO'],
    ['has a method in lower case', `get /v1/teams HTTP/1.1\r\n${host}${close}`, 501, 'method get'],
    [
      'has a method that begins like a known one',
      `POSTER / HTTP/1.1\r\n${host}${close}`,
      501,
      'method POSTER',
    ],
    ['wants a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${host}${close}`, 501, 'method CONNECT'],
    ['has a space in its path', `GET /v1/a b HTTP/1.1\r\n${host}${close}`, 400, 'percent-encoded'],
    ['has a letter with an accent in its path', `GET /é HTTP/1.1\r\n${host}${close}`, 400, 'percent-encoded'],
    ['has a path without a slash', `GET health HTTP/1.1\r\n${host}${close}`, 400, 'begin with a slash'],
    ['has lines that end with LF', 'GET /health HTTP/1.1\nHost: x\n\n', 400, 'CR LF'],
    ['has lines that end with CR', 'GET /health HTTP/1.1\rHost: x\r\r', 400, 'CR LF'],
    ['has one line that ends with LF', 'GET /health HTTP/1.1\r\nHost: x\n\n', 400, 'CR LF'],
    ['has a header with a space in its name', withHeader('A b: c'), 400, 'header'],
    ['has a header with a control character', withHeader('A: \u0001'), 400, 'header'],
    ['begins its headers with a space', `GET / HTTP/1.1\r\n ${host}${close}`, 400, 'header'],
    ['has a length that is not a number', withHeader('Content-Length: x'), 400, 'Content-Length'],
    ['has two lengths', withHeader('Content-Length: 3\r\nContent-Length: 4'), 400, 'Content-Length'],
    [
      'has a length and chunks',
      withHeader('Content-Length: 3\r\nTransfer-Encoding: chunked'),
      400,
      'Transfer-Encoding',
    ],
    [
      'ends with another coding than chunked',
      withHeader('Transfer-Encoding: gzip'),
      400,
      'Transfer-Encoding',
    ],
    [
      'has a coding below the chunks',
      withHeader('Transfer-Encoding: gzip, chunked'),
      501,
      'Transfer-Encoding',
    ],
    ['has a chunk without a size', `${chunked}zz\r\n`, 400, 'chunked'],
    ['has a chunk with a control character', `${chunked}3;a\u0001=b\r\n`, 400, 'chunked'],
  ])('is told what is wrong when it %s', async (_what, request, status, named) => {
    const answer = await sendRaw(app.url, request);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({
      status,
      code: 'invalid_request',
      detail: expect.stringContaining(named),
    });
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('is told what is wrong when it comes behind another one', async () => {
    const { body } = await sendRaw(
      app.url,
      `GET /health HTTP/1.1\r\n${host}\r\nFOO / HTTP/1.1\r\n${host}${close}`,
    );
    expect(body).toContain('method FOO');
  });

  it.each(['hello\r\n\r\n', 'GET\r\n\r\n', '\u0016\u0003\u0001'])(
    'is distinguished from bytes that are not HTTP at all: %j',
    async (bytes) => {
      const answer = await sendRaw(app.url, bytes);
      expect(JSON.parse(answer.body)).toMatchObject({ status: 400, detail: 'This is not an HTTP request.' });
    },
  );

  it('is told that it ended too early', async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end(`POST /graphql HTTP/1.1\r\n${host}Content-Le`);
    expect(await text(socket)).toContain('before the end of the request');
  });
});
