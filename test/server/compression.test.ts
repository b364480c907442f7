import { get } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { compressOnce } from '../../src/server/http/compression.ts';
import { type SharedApp, sharedApp } from '../support/shared-app.ts';

let app: SharedApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.stop());

/** Requests a path and returns the compressed bytes, which fetch would decompress. */
async function readCompressed(path: string, accept: string | undefined, method = 'GET') {
  const headers = { ...(accept !== undefined && { 'Accept-Encoding': accept }) };
  return new Promise<{ coding: string | undefined; length: string | undefined; bytes: number }>(
    (resolve, reject) => {
      get(new URL(path, app.url), { method, headers }, (res) => {
        let bytes = 0;
        res.on('data', (chunk: Buffer) => (bytes += chunk.length));
        const { 'content-encoding': coding, 'content-length': length } = res.headers;
        res.on('end', () => resolve({ coding, length, bytes }));
      }).on('error', reject);
    },
  );
}

const largePath = '/v1/meta/codes';

it.each([
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, br', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['*', 'br'],
  ['GZIP;Q=1.0', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['gzip;q=0.5, identity', undefined],
  ['gzip;q=2', undefined],
  ['deflate', undefined],
  ['identity;q=0', undefined],
  ['*;q=0', undefined],
  ['', undefined],
  [undefined, undefined],
])('the server answers Accept-Encoding: %s with the encoding %s', async (accept, coding) => {
  const answer = await readCompressed(largePath, accept);
  expect(answer.coding).toBe(coding);
  expect(answer.length).toBe(String(answer.bytes));
  expect(await readCompressed(largePath, accept, 'HEAD')).toEqual({ ...answer, bytes: 0 });
});

it('a buffer that does not change is compressed once for each encoding', async () => {
  const bytes = Buffer.alloc(5_000, 'a');
  const first = compressOnce('br', bytes);
  expect(compressOnce('br', bytes)).toBe(first);
  expect(compressOnce('gzip', bytes)).not.toBe(first);
  expect(gunzipSync(await compressOnce('gzip', bytes)).equals(bytes)).toBe(true);
  expect(compressOnce('br', Buffer.alloc(5_000, 'a'))).not.toBe(first);
});

it('a small answer is not compressed, unless the client refuses it uncompressed', async () => {
  expect((await readCompressed('/health', 'gzip, br')).coding).toBeUndefined();
  expect((await readCompressed('/health', 'gzip, identity;q=0')).coding).toBe('gzip');
});

it('each encoding has its own ETag and decodes to the same answer', async () => {
  const answers = await Promise.all(
    ['identity', 'gzip', 'br'].map((accept) =>
      app.request('GET', largePath, { headers: { 'Accept-Encoding': accept } }),
    ),
  );
  expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(3);
  for (const { body, headers } of answers) {
    expect(body).toEqual(answers[0]?.body);
    expect(headers.get('vary')).toMatch(/Accept-Encoding/);
  }
});
