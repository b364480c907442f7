import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { StorageUnavailableError } from '../../src/storage/storage.ts';
import { S3Store } from '../../src/storage/storage-s3.ts';
import { type App, startApp } from '../support/app.ts';
import { inProcess } from '../cli/workgraph.ts';
import { type AttachmentCaller, newAttachmentCaller, problemOf, put } from './files.ts';

type Answering = (response: ServerResponse) => void;

const bytes = Buffer.alloc(200_000, 'a line of text\n');

/** Headers that promise all bytes, of which the answers below then send too few, too many or just enough. */
const promisesAll = { 'Content-Length': bytes.length };
const resets: Answering = (response) => {
  response.writeHead(200, promisesAll);
  response.write(bytes.subarray(0, 100_000), () => response.socket?.resetAndDestroy());
};
const endsEarly: Answering = (response) => {
  response.writeHead(200, promisesAll);
  response.write(bytes.subarray(0, 100_000), () => response.socket?.end());
};
const stalls: Answering = (response) => {
  response.writeHead(200, promisesAll).write(bytes.subarray(0, 100_000));
};
const resetsAtOnce: Answering = (response) => {
  response.writeHead(200, promisesAll).flushHeaders();
  response.socket?.end();
};
const sendsTooMuch: Answering = (response) => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  response.socket?.end(Buffer.concat([Buffer.from(head), bytes, Buffer.from('and more')]));
};
const switchesProtocol: Answering = (response) => {
  response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
};
const informsForever: Answering = ({ socket }) => {
  const more = setInterval(() => socket?.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(10)), 1);
  socket?.once('close', () => clearInterval(more));
};
const dripsHead: Answering = ({ socket }) => {
  socket?.write('HTTP/1.1 200 OK\r\nX-Long: ');
  dripInto(socket);
};
const dripsError: Answering = (response) => {
  response.writeHead(500, { 'Content-Length': 100_000 });
  dripInto(response);
};
const sendsAll: Answering = (response) => response.writeHead(200, promisesAll).end(bytes);

/** Writes a byte every few milliseconds until the connection is closed. */
function dripInto(sink: Writable | null): void {
  const more = setInterval(() => sink?.write('x'), 20);
  sink?.once('close', () => clearInterval(more));
}

let server: Server;
let storageUrl: string;
/** How the store answers a GET. */
let answers: Answering = sendsAll;
/** The paths of all requests that remove an object. */
let removed: string[] = [];

beforeAll(async () => {
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.resume().on('end', () => {
      if (request.method === 'DELETE') removed.push(request.url ?? '');
      if (request.method === 'GET') answers(response);
      else response.writeHead(request.method === 'PUT' ? 200 : 204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  storageUrl = `http://K:S@127.0.0.1:${(server.address() as AddressInfo).port}/bucket?region=here`;
});

afterEach(() => {
  answers = sendsAll;
  removed = [];
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('a store', () => {
  it.each([
    ['resets the connection', resets],
    ['ends the connection', endsEarly],
    ['sends nothing more', stalls],
    ['ends the connection before the first byte', resetsAtOnce],
  ])('is unavailable when it %s in the middle of an answer', async (_, answering) => {
    answers = answering;
    const store = new S3Store(new URL(storageUrl), 200);
    const read = store.get('a/key').then((content) => buffer(content ?? Readable.from([])));
    await expect(read).rejects.toThrow(StorageUnavailableError);
    answers = sendsAll;
    const patientStore = new S3Store(new URL(storageUrl));
    expect((await buffer((await patientStore.get('a/key')) ?? Readable.from([]))).equals(bytes)).toBe(true);
  });

  it.each([
    ['the head of an answer', dripsHead],
    ['the description of an error', dripsError],
  ])('is unavailable when it sends %s byte by byte', async (_, answering) => {
    answers = answering;
    const store = new S3Store(new URL(storageUrl), 200);
    await expect(store.get('a/key')).rejects.toThrow(StorageUnavailableError);
  });

  it('is unavailable when it breaks off the description of an error', async () => {
    answers = (response) => {
      response.writeHead(500, { 'Content-Length': 100 });
      response.write('<Code>', () => response.socket?.resetAndDestroy());
    };
    await expect(new S3Store(new URL(storageUrl)).get('a/key')).rejects.toThrow(StorageUnavailableError);
  });

  it('is not read to the end of an endless description of an error', async () => {
    const closed = new Promise<void>((resolve) => {
      answers = (response) => {
        const more = setInterval(() => response.write(Buffer.alloc(100_000, ' ')), 1);
        response.writeHead(500).once('close', () => {
          clearInterval(more);
          resolve();
        });
      };
    });
    await expect(new S3Store(new URL(storageUrl)).get('a/key')).rejects.toThrow(StorageUnavailableError);
    await expect(closed).resolves.toBeUndefined();
  });

  it('is read as announced when it sends more than it has announced', async () => {
    answers = sendsTooMuch;
    const store = new S3Store(new URL(storageUrl));
    for (let round = 0; round < 3; round++) {
      expect((await buffer((await store.get('a/key')) ?? Readable.from([]))).equals(bytes)).toBe(true);
    }
  });

  it('keeps no connection for a reader that stops early', async () => {
    const closed = new Promise<void>((resolve) => {
      answers = (response) => {
        response.socket?.once('close', () => resolve());
        stalls(response);
      };
    });
    (await new S3Store(new URL(storageUrl)).get('a/key'))?.destroy();
    await expect(closed).resolves.toBeUndefined();
  });
});

describe('a server on a store that breaks its answers off', () => {
  let app: App;
  let caller: AttachmentCaller;
  let room: string;
  beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), 'workgraph-broken-'));
    app = await startApp({ settings: { STORAGE_URL: storageUrl } });
    caller = await newAttachmentCaller(app);
  });
  afterAll(async () => {
    rmSync(room, { recursive: true });
    await app.stop();
  });

  it('breaks the download off and keeps running', async () => {
    const { signedDownloadUrl } = await caller.attach('a.bin', 'application/octet-stream', bytes);
    answers = resets;
    const response = await fetch(signedDownloadUrl ?? '');
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow('terminated');
    answers = sendsAll;
    expect((await (await fetch(signedDownloadUrl ?? '')).arrayBuffer()).byteLength).toBe(bytes.length);
  });

  it.each([
    ['fewer', bytes.subarray(0, 150_000)],
    ['more', Buffer.concat([bytes, bytes])],
  ])('breaks a download off when the store has %s bytes than were uploaded', async (_, stored) => {
    const { signedDownloadUrl } = await caller.attach('a.bin', 'application/octet-stream', bytes);
    answers = (response) => response.writeHead(200, { 'Content-Length': stored.length }).end(stored);
    const response = await fetch(signedDownloadUrl ?? '');
    expect(response.headers.get('Content-Length')).toBe(String(bytes.length));
    await expect(response.arrayBuffer()).rejects.toThrow('terminated');
  });

  it('answers other requests while the store answers none of many downloads', async () => {
    const { signedDownloadUrl } = await caller.attach('a.bin', 'application/octet-stream', bytes);
    const arrived = Promise.withResolvers<void>();
    let requests = 0;
    answers = () => {
      requests += 1;
      if (requests === 40) arrived.resolve();
    };
    const leaving = new AbortController();
    const downloads = Array.from({ length: 40 }, () =>
      fetch(signedDownloadUrl ?? '', { signal: leaving.signal }).catch(() => undefined),
    );
    await arrived.promise;
    expect((await app.request('GET', '/v1/issues')).status).toBe(200);
    leaving.abort();
    server.closeAllConnections();
    await Promise.all(downloads);
  });

  it('answers 503 when the store has not answered in three times the time of a client', async () => {
    const impatient = await startApp({
      sharesDatabase: true,
      settings: { STORAGE_URL: storageUrl, CLIENT_TIMEOUT_MS: '300' },
    });
    const files = await newAttachmentCaller(impatient);
    const file = Buffer.from('bytes');
    const { signedDownloadUrl } = await files.attach('a.bin', 'application/octet-stream', file);
    answers = () => undefined;
    expect(await problemOf(await fetch(signedDownloadUrl ?? ''))).toEqual([503, 'unavailable']);
    server.closeAllConnections();
    await impatient.stop();
  });

  it('answers 503 when the store has sent nothing', async () => {
    const { signedDownloadUrl } = await caller.attach('a.bin', 'application/octet-stream', bytes);
    answers = resetsAtOnce;
    expect(await problemOf(await fetch(signedDownloadUrl ?? ''))).toEqual([503, 'unavailable']);
  });

  it('answers a preview with 503', async () => {
    const head = { 'Content-Length': 65_536, 'Content-Range': `bytes 0-65535/${bytes.length}` };
    answers = (response) => response.writeHead(206, head).end(bytes.subarray(0, 65_536));
    const { signedPreviewUrl } = await caller.attach('a.txt', 'text/plain', bytes);
    answers = (response) => {
      response.writeHead(206, head);
      response.write(bytes.subarray(0, 100), () => response.socket?.resetAndDestroy());
    };
    expect(await problemOf(await fetch(signedPreviewUrl ?? ''))).toEqual([503, 'unavailable']);
  });

  describe('that does not send the bytes of a preview', () => {
    const text = Buffer.from('a line of text\n');
    let picture: Buffer;
    let preview: Buffer;
    beforeAll(async () => {
      const create = { width: 300, height: 200, channels: 3, background: 'red' } as const;
      picture = await sharp({ create }).png().toBuffer();
      preview = await sharp(picture).webp().toBuffer();
    });

    /** The status of the preview of a file that was uploaded with an intact store, which then answers differently. */
    async function previewOf(name: 'a.txt' | 'a.png', intact: Answering, then: Answering) {
      answers = intact;
      const [type, content] = name === 'a.txt' ? ['text/plain', text] : ['image/png', picture];
      const { signedPreviewUrl } = await caller.attach(name, type, content);
      answers = then;
      return fetch(signedPreviewUrl ?? '');
    }
    const sends =
      (status: number, content: Buffer, headers = {}): Answering =>
      (response) =>
        response.writeHead(status, headers).end(content);
    /** The text as a part of the file, whatever content is sent. */
    const sendsPart = (content: Buffer, range = `0-${text.length - 1}`) =>
      sends(206, content, { 'Content-Range': `bytes ${range}/${text.length}` });

    it('answers with the preview if it does', async () => {
      const response = await previewOf('a.png', sends(200, preview), sends(200, preview));
      expect(Buffer.from(await response.arrayBuffer()).equals(preview)).toBe(true);
    });

    it.each<[string, (of: Buffer) => Answering]>([
      ['half of it', (of) => sends(200, of.subarray(0, of.length / 2))],
      ['nothing of it', () => sends(200, Buffer.alloc(0))],
      ['more than it', (of) => sends(200, Buffer.concat([of, of]))],
      ['a redirection', () => sends(301, Buffer.alloc(0))],
      ['a refusal', () => sends(403, Buffer.from('<Code>InvalidAccessKeyId</Code>'))],
      ['a part that was not asked for', (of) => sends(206, of)],
      ['another protocol', () => switchesProtocol],
      ['nothing but informational answers', () => informsForever],
    ])('answers a picture with 503 when the store sends %s', async (_, answeringWith) => {
      const response = await previewOf('a.png', sends(200, preview), answeringWith(preview));
      expect(await problemOf(response)).toEqual([503, 'unavailable']);
    });

    it.each<[string, Answering]>([
      ['half of it', sendsPart(text.subarray(0, 5))],
      ['nothing of it', sendsPart(Buffer.alloc(0))],
      ['the whole file, though a part was asked for', sends(200, text)],
      ['more than it', sendsPart(bytes)],
      ['another part', sendsPart(text, '1-15')],
      ['a part without its range', sends(206, text)],
    ])('answers a text with 503 when the store sends %s', async (_, answering) => {
      const response = await previewOf('a.txt', sendsPart(text), answering);
      expect(await problemOf(response)).toEqual([503, 'unavailable']);
    });

    it('removes the bytes of an upload whose preview cannot be made', async () => {
      answers = sends(500, Buffer.alloc(0));
      const { uploadUrl } = await caller.create({
        fileName: 'a.txt',
        contentType: 'text/plain',
        sizeBytes: text.length,
      });
      expect(await problemOf(await put(uploadUrl, text))).toEqual([503, 'unavailable']);
      expect(removed).toEqual([expect.stringMatching(/\.\d$/), expect.stringMatching(/\.\d\.preview$/)]);
      answers = sendsPart(text);
      expect((await put(uploadUrl, text)).status).toBe(204);
    });

    it.each(['a.txt', 'a.png'] as const)('stops reading the endless preview of %s', async (name) => {
      let sent = 0;
      const ended = Promise.withResolvers<void>();
      const endless: Answering = (response) => {
        const more = setInterval(() => {
          sent += 100_000;
          response.write(Buffer.alloc(100_000, 'a line of text\n'));
        }, 1);
        if (name === 'a.txt')
          response.setHeader('Content-Range', `bytes 0-${text.length - 1}/${text.length}`);
        response.writeHead(name === 'a.txt' ? 206 : 200).once('close', () => {
          clearInterval(more);
          ended.resolve();
        });
      };
      const intact = name === 'a.txt' ? sendsPart(text) : sends(200, preview);
      const response = await previewOf(name, intact, endless);
      expect(await problemOf(response)).toEqual([503, 'unavailable']);
      await ended.promise;
      expect(sent).toBeLessThan(20_000_000);
    });
  });

  it('ends a backup with a sentence and leaves no part of it', async () => {
    await caller.attach('a.bin', 'application/octet-stream', bytes);
    answers = resets;
    expect(await inProcess(app, 'export', ['--to', join(room, 'copy')])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'The store closed the connection before its answer was complete.\n',
    });
    expect(readdirSync(room)).toEqual([]);
  });
});
