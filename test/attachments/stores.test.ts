import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import sharp from 'sharp';
import { keysOf } from '../../src/db/attachments.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { type FileStore, StorageFullError, StorageUnavailableError } from '../../src/storage/storage.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { bytesOf, type AttachmentCaller, newAttachmentCaller, problemOf, put, random } from './files.ts';
import { type S3Server, startS3 } from './s3-server.ts';

let s3: S3Server;
let directory: string;

beforeAll(async () => {
  s3 = await startS3();
  directory = mkdtempSync(join(tmpdir(), 'workgraph-files-'));
});

afterAll(async () => {
  await s3.stop();
  rmSync(directory, { recursive: true });
});

const newKey = () => `${newUuid()}/00/${newUuid()}.1`;

it('a directory that cannot be made is a store that is unavailable', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const store = openStorage({ dataDir: file, storageUrl: undefined });
  const key = newKey();
  const tries = [store.put(key, chunks(random(10)), 10), store.get(key), store.size(key), store.remove(key)];
  for (const tried of await Promise.allSettled(tries))
    expect(tried).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailableError) });
});

it('a directory flushes the names above a file before it counts as stored', async () => {
  const root = join(directory, 'flushed');
  const flushed = new Set<number>();
  const probe = await open(directory);
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const sync = jest.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    flushed.add((await this.stat()).ino);
  });
  try {
    const key = newKey();
    await openStorage({ dataDir: '/nowhere', storageUrl: pathToFileURL(root).href }).put(
      key,
      chunks(random(10)),
      10,
    );
    const above = [root, ...[1, 2].map((depth) => join(root, ...key.split('/').slice(0, depth)))];
    for (const path of above) expect(flushed).toContain(statSync(path).ino);
  } finally {
    sync.mockRestore();
  }
});

describe.each(['a directory', 'an S3-compatible store'])('%s', (name) => {
  let store: FileStore;
  beforeAll(() => {
    const storageUrl = name === 'a directory' ? pathToFileURL(directory).href : s3.storageUrl;
    store = openStorage({ dataDir: '/nowhere', storageUrl });
  });

  it('returns the stored bytes, as a whole and in ranges', async () => {
    const key = newKey();
    const bytes = random(300_000);
    expect(await store.get(key)).toBeUndefined();
    await store.put(key, chunks(bytes), bytes.length);
    expect((await read(key))?.equals(bytes)).toBe(true);
    const part = await store.get(key, { start: 1_000, end: 1_999 });
    expect(part && (await buffer(part)).equals(bytes.subarray(1_000, 2_000))).toBe(true);
    await store.put(key, chunks(Buffer.from('another')), 7);
    expect((await read(key))?.toString()).toBe('another');
    await store.remove(key);
    await store.remove(key);
    expect(await store.get(key, { start: 0, end: 1 })).toBeUndefined();
  });

  it('stores an empty file', async () => {
    const key = newKey();
    await store.put(key, Readable.from([]), 0);
    expect(await read(key)).toHaveLength(0);
  });

  it('stores nothing of an interrupted upload, and passes the error of the sender on', async () => {
    const key = newKey();
    const broken = (async function* () {
      yield random(100_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new RangeError('broken off');
    })();
    await expect(store.put(key, broken, 200_000)).rejects.toThrow('broken off');
    expect(await store.get(key)).toBeUndefined();
    expect(await store.removeIncomplete(new Date(Date.now() + 1_000))).toBe(0);
  });

  async function read(key: string): Promise<Buffer | undefined> {
    const bytes = await store.get(key);
    return bytes && buffer(bytes);
  }
});

describe('a server on an S3-compatible store', () => {
  let app: App;
  let caller: AttachmentCaller;
  beforeAll(async () => {
    app = await startApp({ sharesDatabase: true, settings: { STORAGE_URL: s3.storageUrl } });
    caller = await newAttachmentCaller(app);
  });
  afterAll(() => app.stop());

  it('stores files, serves them and shows previews', async () => {
    const image = await sharp({ create: { width: 2_000, height: 10, channels: 3, background: '#123' } })
      .png()
      .toBuffer();
    const file = await caller.attach('wide.png', 'image/png', image);
    expect((await bytesOf(file.signedDownloadUrl)).equals(image)).toBe(true);
    const range = await bytesOf(file.signedDownloadUrl, { Range: 'bytes=1-3' });
    expect(range.toString()).toBe('PNG');
    expect(await sharp(await bytesOf(file.signedPreviewUrl)).metadata()).toMatchObject({
      width: 1_024,
      height: 5,
    });
    const code = await caller.attach('a.sql', 'application/sql', Buffer.from('select 1;\n'));
    expect((await bytesOf(code.signedPreviewUrl)).toString()).toBe('select 1;\n');
  });

  it('stores nothing of an upload that is interrupted or has a wrong length', async () => {
    const before = s3.keys();
    const { uploadUrl } = await caller.create({ sizeBytes: 1_000_000 });
    const sending = httpRequest(uploadUrl, { method: 'PUT', headers: { 'Content-Length': 1_000_000 } });
    const closed = new Promise((resolve) => sending.on('close', resolve).on('error', () => undefined));
    sending.write(random(500_000), () => sending.destroy());
    await closed;
    const stream = new Blob([random(999_999)]).stream();
    const short = await fetch(uploadUrl, { method: 'PUT', body: stream, duplex: 'half' } as RequestInit);
    expect(await problemOf(short)).toEqual([400, 'validation_failed']);
    expect(s3.keys()).toEqual(before);
    expect((await put(uploadUrl, random(1_000_000))).status).toBe(204);
    expect(s3.keys()).toHaveLength(before.length + 1);
  });
});

describe('a store that does not work', () => {
  it('is answered 503 when it cannot be reached, and the upload can be retried', async () => {
    const app = await startApp({
      sharesDatabase: true,
      settings: { STORAGE_URL: 'http://K:S@127.0.0.1:9/bucket' },
    });
    try {
      const caller = await newAttachmentCaller(app);
      const { uploadUrl } = await caller.create();
      const response = await put(uploadUrl, random(5));
      expect(response.headers.get('retry-after')).toBe('1');
      expect(await problemOf(response)).toEqual([503, 'unavailable']);
      expect(await problemOf(await put(uploadUrl, random(5)))).toEqual([503, 'unavailable']);
      expect((await app.request('GET', '/readyz')).status).toBe(200);
    } finally {
      await app.stop();
    }
  });

  it('is asked again over a new connection when it has closed an idle one', async () => {
    const requestCounts = new Map<unknown, number>();
    const closing = createServer((request, response) => {
      const times = (requestCounts.get(request.socket) ?? 0) + 1;
      requestCounts.set(request.socket, times);
      if (times > 1) request.socket.destroy();
      else response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(closing, 'listening');
    try {
      const { port } = closing.address() as AddressInfo;
      const store = openStorage({
        dataDir: '/nowhere',
        storageUrl: `http://K:S@127.0.0.1:${port}/bucket?region=here`,
      });
      for (let round = 0; round < 4; round++) await store.remove(newKey());
      expect([...requestCounts.values()]).toContain(2);
    } finally {
      closing.closeAllConnections();
      closing.close();
    }
  });

  it('is an internal error when it refuses our credentials', async () => {
    const store = openStorage({ dataDir: '/nowhere', storageUrl: s3.wrongStorageUrl });
    const refused = await store.put(newKey(), chunks(random(5)), 5).catch((error: unknown) => error);
    expect(refused).not.toBeInstanceOf(StorageUnavailableError);
    expect(String(refused)).toMatch(/403 SignatureDoesNotMatch/);
  });
});

describe('a store of an S3-compatible server that answers', () => {
  /** Opens a store whose server answers with `answer`, and counts the requests. */
  async function withStore(
    answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
    work: (store: FileStore) => Promise<void>,
  ): Promise<number> {
    let count = 0;
    const server = createServer((request, response) => answer(request, response, (count += 1)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const storageUrl = `http://K:S@127.0.0.1:${port}/bucket?region=here`;
      await work(openStorage({ dataDir: '/nowhere', storageUrl }));
    } finally {
      server.closeAllConnections();
      server.close();
    }
    return count;
  }
  const refusal = (code: string) => `<Error><Code>${code}</Code></Error>`;

  it('before it has read an upload has its answer reported', async () => {
    const bytes = random(5_000_000);
    await withStore(
      (request, response) => {
        // Nothing more of the body is read.
        request.pause();
        response.writeHead(507, { Connection: 'close' }).end(refusal('QuotaExceeded'));
      },
      async (store) => {
        await expect(store.put(newKey(), chunks(bytes), bytes.length)).rejects.toThrow(StorageFullError);
      },
    );
  });

  it('with the last byte of an upload does not interrupt its source', async () => {
    await withStore(
      (request, response) => {
        let left = 10;
        request.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left === 0) response.writeHead(200).end();
        });
      },
      async (store) => {
        let isEnded = false;
        const bytes = (async function* () {
          yield random(10);
          await new Promise((resolve) => setTimeout(resolve, 50));
          isEnded = true;
        })();
        await store.put(newKey(), bytes, 10);
        expect(isEnded).toBe(true);
      },
    );
  });

  it.each([
    ['an error', refusal('InternalError'), 'The store answered 200 InternalError'],
    ['a page of a proxy', '<html>Sign in</html>', 'The store answered 200 with content'],
  ])('with %s after a status of success has not stored an upload', async (_, content, message) => {
    await withStore(
      (request, response) => request.resume().on('end', () => response.writeHead(200).end(content)),
      async (store) => {
        const failure = expect.objectContaining({ name: 'StorageUnavailableError', message });
        await expect(store.put(newKey(), chunks(random(10)), 10)).rejects.toEqual(failure);
      },
    );
  });

  it('503 SlowDown is asked again', async () => {
    const count = await withStore(
      (_request, response, nth) =>
        nth === 1 ? response.writeHead(503).end(refusal('SlowDown')) : response.writeHead(200).end('bytes'),
      async (store) => {
        const bytes = await store.get(newKey());
        expect(bytes && String(await buffer(bytes))).toBe('bytes');
      },
    );
    expect(count).toBe(2);
  });

  it.each([
    [404, 'NoSuchBucket', 'The store answered 404 NoSuchBucket.'],
    [
      403,
      'AccessDenied',
      'A key without the right ListBucket gets this answer also for a file that does not exist.',
    ],
    [301, 'PermanentRedirect', 'The store answered 301 PermanentRedirect.'],
  ])('%d %s refuses, and has no opinion on the file', async (status, code, message) => {
    await withStore(
      (_request, response) => response.writeHead(status).end(refusal(code)),
      async (store) => {
        const refused = expect.objectContaining({
          name: 'StorageRefusedError',
          message: expect.stringContaining(message),
        });
        await expect(store.get(newKey())).rejects.toEqual(refused);
        await expect(store.remove(newKey())).rejects.toEqual(refused);
      },
    );
  });
});

it('a store reports a full disk', async () => {
  const full = (async function* () {
    yield random(10);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  })();
  const store = openStorage({ dataDir: directory, storageUrl: undefined });
  await expect(store.put(newKey(), full, 20)).rejects.toThrow(StorageFullError);
});

it('a store finds all remains of an attachment’s uploads', () => {
  const file = { workspaceId: newUuid(), id: newUuid(), revision: 2 };
  const path = `${file.workspaceId}/${file.id.slice(-2)}/${file.id}`;
  expect(keysOf(file)).toEqual([`${path}.1`, `${path}.1.preview`, `${path}.2`, `${path}.2.preview`]);
});

function chunks(bytes: Buffer): AsyncIterable<Uint8Array> {
  const size = 64 * 1024;
  const count = Math.ceil(bytes.length / size);
  return Readable.from(
    Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)),
  );
}
