import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxBodyBytes } from '../../executor/limits.ts';
import { AppError, raise } from '../../resolvers/errors.ts';

/** How long a client may go on sending what is no longer read, so that it sees the answer. */
const discardMs = 2_000;

/** Has all of a body come in already, as it mostly has with its headers. */
export function isWhole(req: IncomingMessage): boolean {
  return req.complete || req.readableLength >= Number(req.headers['content-length'] ?? Number.NaN);
}

/** Reads a body as it comes in, no further than the limit and no longer: throws `payload_too_large`, `request_timeout`. */
export async function readBody(req: IncomingMessage, res: ServerResponse, withinMs: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) refuse();
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
  if (isWhole(req) && req.readableLength <= maxBodyBytes) return wholeBody(req);
  const chunks: Buffer[] = [];
  let length = 0;
  const untilMs = performance.now() + withinMs;
  const incoming = req.iterator({ destroyOnReturn: false });
  for (;;) {
    const bytes = await nextChunk(incoming, untilMs - performance.now());
    if (!bytes) return Buffer.concat(chunks);
    length += bytes.length;
    if (length > maxBodyBytes) refuse();
    chunks.push(bytes);
  }
}

/** A body that is there already, to its end: no time has to be kept, and an iterator would cost more than all of it. */
function wholeBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
      .once('error', reject);
  });
}

/** The next piece of a body, undefined at its end; throws `request_timeout` when it does not come in time. */
export function nextChunk(chunks: AsyncIterator<unknown>, withinMs: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new AppError('request_timeout', 'The request did not arrive whole in time.'));
    }, withinMs);
    chunks.next().then(
      ({ value, done }) => {
        clearTimeout(late);
        // A request without an encoding gives buffers.
        resolve(done ? undefined : (value as Buffer));
      },
      (error: unknown) => {
        clearTimeout(late);
        reject(error);
      },
    );
  });
}

/**
 * Closing at once would reset the connection and lose the answer: the rest is thrown away for a while. Settles when
 * the client has stopped, or has had its time.
 */
export function discardRest(req: IncomingMessage, res: ServerResponse): Promise<void> {
  res.shouldKeepAlive = false;
  return new Promise((resolve) => {
    const late = setTimeout(resolve, discardMs).unref();
    const done = () => {
      clearTimeout(late);
      resolve();
    };
    req.once('end', done).once('close', done).resume();
  });
}

function refuse(): never {
  raise('payload_too_large', `The body is larger than ${maxBodyBytes.toLocaleString('en')} bytes.`);
}
