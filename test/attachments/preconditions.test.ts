import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type App, startApp } from '../support/app.ts';
import { type AttachmentCaller, newAttachmentCaller, problemOf, put } from './files.ts';

let app: App;
let caller: AttachmentCaller;
let addresses: readonly [what: string, url: string][];
const content = Buffer.from('a line of text\n'.repeat(200));

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  caller = await newAttachmentCaller(app);
  const { signedDownloadUrl, signedPreviewUrl } = await caller.attach('notes.txt', 'text/plain', content);
  addresses = [
    ['content', signedDownloadUrl ?? ''],
    ['preview', signedPreviewUrl ?? ''],
  ];
});
afterAll(() => app.stop());

const tagOf = async (url: string) => (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? '';

describe('a signed URL', () => {
  it('answers 304 without a body to a client that has the file', async () => {
    for (const [what, url] of addresses) {
      const first = await fetch(url);
      const etag = first.headers.get('etag') ?? '';
      await first.arrayBuffer();
      for (const method of ['GET', 'HEAD']) {
        const again = await fetch(url, { method, headers: { 'If-None-Match': etag } });
        expect([what, again.status, await again.text()]).toEqual([what, 304, '']);
        for (const name of ['etag', 'cache-control', 'content-security-policy', 'vary'])
          expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      }
    }
  });

  it('answers 412 to a client that expects another file', async () => {
    for (const [, url] of addresses) {
      const answer = await fetch(url, { headers: { 'If-Match': '"another"' } });
      expect(await problemOf(answer)).toEqual([412, 'precondition_failed']);
    }
  });

  it('checks the signature and the existence of the file before any precondition', async () => {
    const headers = { 'If-Match': '"another"', 'If-None-Match': '*' };
    const [, download] = addresses[0] as [string, string];
    expect((await fetch(`${download}x`, { headers })).status).toBe(403);
    const binary = await caller.attach('a.bin', 'application/octet-stream', content);
    const deleted = binary.signedDownloadUrl ?? '';
    await caller.remove(binary.id);
    expect((await fetch(deleted, { headers })).status).toBe(404);
  });

  it('accepts no upload that would replace bytes', async () => {
    const named = { fileName: 'b.bin', contentType: 'application/octet-stream', sizeBytes: content.length };
    const { uploadUrl } = await caller.create(named);
    for (const tag of ['"another"', '*'])
      expect(await problemOf(await put(uploadUrl, content, { 'If-Match': tag }))).toEqual([
        412,
        'precondition_failed',
      ]);
    expect((await put(uploadUrl, content, { 'If-None-Match': '*' })).status).toBe(204);
    expect((await put(uploadUrl, content, { 'If-Match': '*' })).status).toBe(409);
  });
});

/** Values of a header, in which `own` is replaced by the tag of the file. */
const tags = fc.constantFrom(
  undefined,
  '*',
  'own',
  'W/own',
  '"other"',
  'W/"other"',
  '"other", own',
  ' , own,, "other"',
  '"other", W/own',
  '"a", "b"',
  'no tag',
  '',
);
const conditions = fc.record({
  ifMatch: tags,
  ifNoneMatch: tags,
  ifRange: fc.constantFrom(undefined, 'own', 'W/own', '"other"', 'Mon, 01 Jan 2035 00:00:00 GMT'),
  range: fc.constantFrom(undefined, 'bytes=0-9', 'bytes=100000-', 'bytes=nonsense'),
  since: fc.constantFrom(undefined, 'Mon, 01 Jan 2001 00:00:00 GMT', 'Mon, 01 Jan 2035 00:00:00 GMT'),
  method: fc.constantFrom('GET', 'HEAD'),
  part: fc.constantFrom(0, 1),
});
type Conditions = typeof conditions extends fc.Arbitrary<infer Value> ? Value : never;

const elements = (header: string) => header.split(',').map((element) => element.trim());

/** The steps of RFC 9110, 13.2.2, for a resource with a strong tag and without a Last-Modified time. */
function expected({ ifMatch, ifNoneMatch, ifRange, range, method }: Conditions): number {
  if (ifMatch !== undefined && ifMatch !== '*' && !elements(ifMatch).includes('own')) return 412;
  const weakly = elements(ifNoneMatch ?? '').some((element) => element === 'own' || element === 'W/own');
  if (ifNoneMatch === '*' || weakly) return 304;
  if (method === 'HEAD' || (ifRange !== undefined && ifRange !== 'own')) return 200;
  if (range === 'bytes=0-9') return 206;
  return range === 'bytes=100000-' ? 416 : 200;
}

it('the server evaluates preconditions in the order of RFC 9110', async () => {
  const etags = await Promise.all(addresses.map(([, url]) => tagOf(url)));
  await fc.assert(
    fc.asyncProperty(conditions, async (sample) => {
      const { ifMatch, ifNoneMatch, ifRange, range, since, method, part } = sample;
      const [, url] = addresses[part] as [string, string];
      const sent = Object.entries({
        'Accept-Encoding': 'gzip',
        'If-Match': ifMatch,
        'If-None-Match': ifNoneMatch,
        'If-Range': ifRange,
        Range: range,
        'If-Modified-Since': since,
        'If-Unmodified-Since': since,
      }).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value.replace('own', etags[part] ?? '')]],
      );
      const answer = await fetch(url, { method, headers: sent });
      const body = await answer.arrayBuffer();
      expect(answer.status).toBe(expected(sample));
      if (answer.status === 304 || method === 'HEAD') expect(body.byteLength).toBe(0);
      if (answer.status === 206) expect(Buffer.from(body).equals(content.subarray(0, 10))).toBe(true);
      if (answer.status === 200 && method === 'GET') expect(body.byteLength).toBe(content.length);
    }),
    { numRuns: 400 },
  );
});
