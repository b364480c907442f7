import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SignedAccess, UrlSigner } from '../../src/resolvers/attachments/signed-urls.ts';
import { type App, startApp } from '../support/app.ts';
import { logInto } from '../support/log-into.ts';
import {
  type AttachmentRead,
  bytesOf,
  type AttachmentCaller,
  newAttachmentCaller,
  problemOf,
  put,
  random,
} from './files.ts';
import { uuidOf } from '../support/ids.ts';

const oldKey = 'an old key of more than 32 characters';
const newKey = 'a new key that signs from now on -----';

let app: App;
let caller: AttachmentCaller;
const content = random(10_000);
let file: AttachmentRead;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { SIGNING_KEYS: `${newKey}, ${oldKey}` } });
  caller = await newAttachmentCaller(app);
  file = await caller.attach('Müller „Plan“ 100%.bin', 'application/octet-stream', content);
});

afterAll(() => app.stop());

const download = () => file.signedDownloadUrl ?? '';

/** Signs an access to this file like the server, with the given changes. */
function sign(changes: Partial<SignedAccess> = {}, { key = newKey, now = new Date() } = {}): string {
  const access: SignedAccess = {
    method: 'GET',
    part: 'content',
    workspaceId: app.workspaceId,
    attachmentId: uuidOf(file.id),
    disposition: 'attachment',
    ...changes,
  };
  return `${app.url}${new UrlSigner([key]).sign(access, now).path}`;
}

describe('a signed URL', () => {
  it('returns the bytes without a token, as a download that is neither executed nor cached', async () => {
    const response = await fetch(download());
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10000',
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
      'content-disposition': `attachment; filename="M_ller _Plan_ 100_.bin"; filename*=UTF-8''M%C3%BCller%20%E2%80%9EPlan%E2%80%9C%20100%25.bin`,
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  });

  it('is logged as complete for a client that leaves with the last byte', async () => {
    const lines: { status?: number; msg: string }[] = [];
    const log = logInto(lines);
    const logged = await startApp({ sharesDatabase: true, logLevel: 'info', log });
    const { signedDownloadUrl } = await (await newAttachmentCaller(logged)).attach(
      'a.bin',
      'application/octet-stream',
      random(300_000),
    );
    for (let time = 0; time < 40; time += 1) {
      const sent = httpRequest(signedDownloadUrl ?? '', { agent: false }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      let left = 300_000;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        left -= chunk.length;
        if (left === 0) break;
      }
    }
    await logged.stop();
    const downloads = lines.filter(({ msg }) => msg.startsWith('GET /files/'));
    expect(downloads.map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect(lines.filter(({ msg }) => msg.includes('failed'))).toEqual([]);
  });

  it('answers HEAD with only the headers', async () => {
    const response = await fetch(download(), { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '10000']);
    expect(await response.text()).toBe('');
  });

  it('is answered 403 after any change of it', async () => {
    const url = new URL(download());
    const changes: Record<string, (changed: URL) => void> = {
      signature: ({ searchParams }) => {
        const signature = searchParams.get('signature') ?? '';
        searchParams.set('signature', `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`);
      },
      'last bits of the signature': ({ searchParams }) => {
        const signature = searchParams.get('signature') ?? '';
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        // The last of 43 characters has two bits that a lenient decoder would ignore.
        const last = alphabet[alphabet.indexOf(signature.slice(-1)) ^ 1] ?? '';
        searchParams.set('signature', signature.slice(0, -1) + last);
      },
      'no signature': ({ searchParams }) => searchParams.delete('signature'),
      'two signatures': ({ searchParams }) =>
        searchParams.append('signature', searchParams.get('signature') ?? ''),
      expires: ({ searchParams }) =>
        searchParams.set('expires', String(Number(searchParams.get('expires')) + 1)),
      'expires never': ({ searchParams }) => searchParams.set('expires', 'Infinity'),
      disposition: ({ searchParams }) => searchParams.set('disposition', 'inline'),
      workspace: ({ searchParams }) => searchParams.set('workspace', 'workspace_01h455vb4pex5vsknk084sn02q'),
      'no query': (changed) => (changed.search = ''),
      attachment: (changed) => (changed.pathname = '/files/attachment_01h455vb4pex5vsknk084sn02q/content'),
      part: (changed) => (changed.pathname = changed.pathname.replace('content', 'preview')),
    };
    const statuses: Record<string, unknown> = {};
    for (const [name, change] of Object.entries(changes)) {
      const changed = new URL(url);
      change(changed);
      statuses[name] = await problemOf(await fetch(changed));
    }
    const refused = Object.keys(changes).map((name) => [name, [403, 'forbidden']]);
    expect(statuses).toEqual(Object.fromEntries(refused));
    expect(await problemOf(await put(download(), content))).toEqual([403, 'forbidden']);
  });

  it('is valid for five minutes', async () => {
    const nearly = new Date(Date.now() - 5 * 60_000 + 60_000);
    expect((await fetch(sign({}, { now: nearly }))).status).toBe(200);
    const over = await fetch(sign({}, { now: new Date(Date.now() - 5 * 60_000 - 1_000) }));
    expect(over.headers.get('www-authenticate')).toBe('Bearer realm="workgraph"');
    expect(await over.json()).toMatchObject({
      status: 403,
      code: 'forbidden',
      detail: 'The URL has expired.',
    });
  });

  it('of another workspace gives no access to this one', async () => {
    const { workspaceId } = await app.secondWorkspace();
    expect(await problemOf(await fetch(sign({ workspaceId })))).toEqual([404, 'not_found']);
  });

  it('is valid with every configured key, and new ones are signed with the first', async () => {
    expect((await fetch(sign({}, { key: oldKey }))).status).toBe(200);
    expect(await problemOf(await fetch(sign({}, { key: `${newKey}x` })))).toEqual([403, 'forbidden']);
    const expires = Number(new URL(download()).searchParams.get('expires')) * 1000;
    expect(sign({}, { now: new Date(expires - 5 * 60_000) })).toBe(download());
  });

  it('never displays inline what must be downloaded, even if that is signed', async () => {
    const response = await fetch(sign({ disposition: 'inline' }));
    expect(response.headers.get('content-disposition')).toMatch(/^attachment;/);
    const preview = sign({ part: 'preview', disposition: 'inline' });
    expect(await problemOf(await fetch(preview))).toEqual([404, 'not_found']);
  });

  it('is shown only to tokens with the scope to read issues', async () => {
    const token = await app.tokenFor({ scopes: ['issues:write'] });
    const { body } = await app.graphql(
      'query ($id: ID!) { node(id: $id) { ... on Attachment { signedDownloadUrl } } }',
      { id: file.id },
      { token },
    );
    expect(body.errors?.[0]?.extensions?.code).toBe('FORBIDDEN');
  });

  it('works only at its path and with its methods', async () => {
    const { search } = new URL(download());
    for (const path of [
      '/files',
      '/files/',
      `/files/${file.id}`,
      `/files/${file.id}/other`,
      '/files/x/content',
    ]) {
      expect(await problemOf(await fetch(`${app.url}${path}${search}`))).toEqual([404, 'not_found']);
    }
    const posted = await fetch(download(), { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT, OPTIONS']);
  });
});

it('the content and preview routes of REST redirect to a signed URL', async () => {
  const led = await app.request('GET', file.downloadUrl);
  expect([led.status, led.headers.get('cache-control')]).toEqual([302, 'no-store']);
  expect((await bytesOf(led.headers.get('location'))).equals(content)).toBe(true);
  expect((await app.request('GET', file.previewUrl)).status).toBe(404);
  const text = await caller.attach('a.txt', 'text/plain', Buffer.from('abc'));
  const shown = await app.request('GET', text.previewUrl);
  expect((await bytesOf(shown.headers.get('location'))).toString()).toBe('abc');
});

describe('a range', () => {
  it.each([
    ['bytes=0-99', 0, 100],
    ['bytes=9900-', 9_900, 10_000],
    ['bytes=-10', 9_990, 10_000],
    ['bytes=-20000', 0, 10_000],
    ['bytes=9999-20000', 9_999, 10_000],
    ['Bytes=5-5', 5, 6],
  ])('%s returns only those bytes', async (range, start, end) => {
    const response = await fetch(download(), { headers: { Range: range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/10000`);
    expect(response.headers.get('content-length')).toBe(String(end - start));
    expect(Buffer.from(await response.arrayBuffer()).equals(content.subarray(start, end))).toBe(true);
  });

  it.each(['bytes=10000-', 'bytes=20000-30000', 'bytes=-0'])('%s is answered 416', async (range) => {
    const response = await fetch(download(), { headers: { Range: range } });
    expect(response.headers.get('content-range')).toBe('bytes */10000');
    expect(await problemOf(response)).toEqual([416, 'range_not_satisfiable']);
  });

  it.each(['bytes=5-1', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=x-', 'bytes=-'])(
    '%s is the whole file',
    async (range) => {
      expect((await bytesOf(download(), { Range: range })).equals(content)).toBe(true);
    },
  );

  it('continues a download of the same file, and restarts with another file', async () => {
    const { headers } = await fetch(download(), { method: 'HEAD' });
    const etag = headers.get('etag') ?? '';
    expect(await bytesOf(download(), { Range: 'bytes=1-2', 'If-Range': etag })).toHaveLength(2);
    expect(await bytesOf(download(), { Range: 'bytes=1-2', 'If-Range': '"another"' })).toHaveLength(10_000);
  });
});

describe('with an origin for files', () => {
  let apart: App;
  beforeAll(async () => {
    apart = await startApp({
      sharesDatabase: true,
      settings: { FILES_URL: 'http://files.example/', PUBLIC_URL: 'http://work.example' },
    });
  });
  afterAll(() => apart.stop());

  const sendTo = (
    host: string,
    method: string,
    path: string,
    { body, headers }: { body?: Uint8Array; headers?: Record<string, string> } = {},
  ) =>
    new Promise<{ status: number | undefined; headers: Record<string, unknown>; body: string }>(
      (resolve, reject) => {
        const sending = httpRequest(
          new URL(path, apart.url),
          { method, headers: { Host: host, ...headers } },
          (response) => {
            text(response).then(
              (body) => resolve({ status: response.statusCode, headers: response.headers, body }),
              reject,
            );
          },
        );
        sending.on('error', reject);
        sending.end(body);
      },
    );

  it('signs URLs of that origin, and serves files only there and nothing else there', async () => {
    const own = await newAttachmentCaller(apart);
    const { uploadUrl } = await own.create({ sizeBytes: 3, fileName: 'a.txt', contentType: 'text/plain' });
    const { origin, pathname, search } = new URL(uploadUrl);
    expect(origin).toBe('http://files.example');
    const bytes = Buffer.from('abc');
    expect((await sendTo('work.example', 'PUT', pathname + search, { body: bytes })).status).toBe(404);
    expect((await sendTo('files.example', 'PUT', pathname + search, { body: bytes })).status).toBe(204);
    const [shown] = await own.list();
    const read = new URL(shown?.signedDownloadUrl ?? '');
    const fromPage = { headers: { Origin: 'http://work.example' } };
    const given = await sendTo('FILES.example', 'GET', read.pathname + read.search, fromPage);
    expect([given.status, given.body]).toEqual([200, 'abc']);
    expect(given.headers['access-control-allow-origin']).toBe('http://work.example');
    const asked = { Origin: 'http://work.example', 'Access-Control-Request-Method': 'PUT' };
    const preflight = await sendTo('files.example', 'OPTIONS', pathname, { headers: asked });
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': 'http://work.example',
        'access-control-allow-methods': 'GET, HEAD, PUT',
      },
    });
    const elsewhere = { headers: { ...asked, Origin: 'http://files.example' } };
    for (const foreign of [
      await sendTo('files.example', 'OPTIONS', pathname, elsewhere),
      await sendTo('files.example', 'GET', read.pathname + read.search, elsewhere),
    ]) {
      expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
      expect(foreign.headers.vary).toMatch(/\bOrigin\b/);
    }
    for (const path of ['/', '/graphql', '/v1/teams', '/health']) {
      expect([path, (await sendTo('files.example', 'GET', path)).status]).toEqual([path, 404]);
    }
  });
});
