// @own-process, because it measures memory, and with --single-threaded-gc (package.json) a process takes more of it.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { type AttachmentCaller, newAttachmentCaller, random } from './files.ts';
import { type S3Server, startS3 } from './s3-server.ts';

/** `LARGE_FILE_BYTES=1073741824` tries the default limit. */
const sizeBytes = Number(process.env.LARGE_FILE_BYTES ?? 150_000_000);

/** Includes the buffers of the client, which is in the same process, and of sockets. */
const maxGrowthBytes = 100_000_000;

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.stop());

describe.each(['a directory', 'an S3-compatible store'])('%s', (name) => {
  let app: App;
  let caller: AttachmentCaller;
  beforeAll(async () => {
    app = await startApp({ settings: name === 'a directory' ? {} : { STORAGE_URL: s3.storageUrl } });
    caller = await newAttachmentCaller(app);
    await roundTrip(5_000_000);
  });
  afterAll(() => app.stop());

  it('stores and serves a large file in memory that does not depend on its size', async () => {
    const grown = await growthWhile(() => roundTrip(sizeBytes));
    expect(grown).toBeLessThan(maxGrowthBytes);
  });

  async function roundTrip(length: number): Promise<void> {
    const { attachment, uploadUrl } = await caller.create({ sizeBytes: length, fileName: 'large.bin' });
    const sending = httpRequest(uploadUrl, { method: 'PUT', headers: { 'Content-Length': length } });
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
    await pipeline(Readable.from(pieces(length)), sending);
    const [{ statusCode }] = await answered;
    expect(statusCode).toBe(204);
    const shown = (await caller.list()).find(({ id }) => id === attachment.id);
    const asking = httpRequest(shown?.signedDownloadUrl ?? '').end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    let received = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (!isSentAt(received, chunk))
        throw new Error(`The bytes from ${received} on differ from those sent.`);
      received += chunk.length;
    }
    expect(received).toBe(length);
  }
});

/** A file repeats this piece. Comparing with it is cheaper than hashing. */
const piece = random(64 * 1024);

function* pieces(length: number): Generator<Buffer> {
  for (let left = length; left > 0; left -= piece.length) {
    yield left < piece.length ? piece.subarray(0, left) : piece;
  }
}

function isSentAt(offset: number, bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length; ) {
    const inPiece = (offset + start) % piece.length;
    const end = Math.min(bytes.length, start + piece.length - inPiece);
    if (bytes.compare(piece, inPiece, inPiece + end - start, start, end) !== 0) return false;
    start = end;
  }
  return true;
}

/** The increase of what this process holds in memory during the work, at its peak. Garbage is collected before each look. */
async function growthWhile(work: () => Promise<void>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  let most = before;
  const sampling = setInterval(() => (most = Math.max(most, held())), 500);
  await work().finally(() => clearInterval(sampling));
  if (process.env.LARGE_FILE_BYTES) process.stderr.write(`grew by ${Math.round((most - before) / 1e6)} MB\n`);
  return most - before;
}
