import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientGone } from '../../db/engine/deadline.ts';
import { AppError, raise } from '../../resolvers/errors.ts';
import { chunkOverheadBytes, type UnfinishedBodies } from './unfinished-bodies.ts';

/** How long a client may continue to send a body that is discarded, so that it receives the answer. */
const discardMs = 2_000;

/** Whether the whole body has arrived, as it usually has together with the headers. */
export function isWhole(req: IncomingMessage): boolean {
  return req.complete || req.readableLength >= Number(req.headers['content-length'] ?? Number.NaN);
}

/** How long a client may take to send a body, how large it may be, and whose it is. */
export interface BodyLimits {
  readonly withinMs: number;
  readonly maxBytes: number;
  /** The message for a body that is larger. */
  readonly sizeRule: string;
  /** The workspace of the client, if it has named a token. */
  readonly workspaceId?: string | undefined;
}

/** The body of a request that is still to be read. */
export interface UnreadBody {
  /** Whether the whole body has arrived. */
  readonly isWhole: boolean;
  /** Reads the body. Throws what `readBody` throws. */
  read(limits: BodyLimits): Promise<Buffer>;
}

/**
 * The body of an HTTP request. It is a class because V8 gives each object literal with an accessor a hidden class of its own, which
 * keeps request and answer in memory until a full garbage collection: a quarter of the time of the smallest request.
 */
export class HttpBody implements UnreadBody {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #unfinished: UnfinishedBodies;

  constructor(req: IncomingMessage, res: ServerResponse, unfinished: UnfinishedBodies) {
    this.#req = req;
    this.#res = res;
    this.#unfinished = unfinished;
  }

  get isWhole(): boolean {
    return isWhole(this.#req);
  }

  read(limits: BodyLimits): Promise<Buffer> {
    return readBody(this.#req, this.#res, limits, this.#unfinished);
  }
}

/**
 * Reads a body within its limits. Throws `payload_too_large` and `request_timeout`, and `unavailable` if the client has gone or
 * unfinished bodies take too much memory.
 */
export async function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  { withinMs, maxBytes, sizeRule, workspaceId }: BodyLimits,
  unfinished: UnfinishedBodies,
): Promise<Buffer> {
  // A request that was destroyed before, while its token was looked up, has emitted all its events.
  if (req.destroyed) raise('unavailable', clientGone);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) raise('payload_too_large', sizeRule);
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
  if (isWhole(req) && req.readableLength <= maxBytes) return wholeBody(req);
  const chunks: Buffer[] = [];
  let length = 0;
  const untilMs = performance.now() + withinMs;
  const incoming = req.iterator({ destroyOnReturn: false });
  const framing = new Framing(req);
  const cut = Promise.withResolvers<never>();
  const held = unfinished.begin({
    workspaceId: () => workspaceId,
    cut: () => cut.reject(new AppError('unavailable', tooManyUnfinished)),
  });
  try {
    for (;;) {
      const bytes = await Promise.race([nextChunk(incoming, untilMs - performance.now()), cut.promise]);
      if (!bytes) return Buffer.concat(chunks);
      length += bytes.length;
      if (length > maxBytes) raise('payload_too_large', sizeRule);
      framing.check(length);
      chunks.push(bytes);
      held.holds(length + chunks.length * chunkOverheadBytes);
    }
  } finally {
    held.end();
  }
}

const tooManyUnfinished = 'Too many bodies are arriving at the same time; try again soon.';

/** By how many bytes the framing of chunks may be longer than the body itself. */
const maxFramingBytes = 16_384;

/**
 * What a body takes in addition to its bytes because it is sent in chunks. Node spends some microseconds on each chunk, so a body in
 * chunks of one byte would occupy the process for seconds.
 */
export class Framing {
  readonly #req: IncomingMessage;
  readonly #readBefore: number;

  constructor(req: IncomingMessage) {
    this.#req = req;
    this.#readBefore = req.socket.bytesRead - req.readableLength;
  }

  /** Whether the chunks are far too small, when this many bytes of the body have been taken from the request. */
  isExcessive(taken: number): boolean {
    const { headers, socket, readableLength, complete } = this.#req;
    // What follows a complete body is the next request.
    if (complete || headers['transfer-encoding'] === undefined) return false;
    const received = taken + readableLength;
    return socket.bytesRead - this.#readBefore > 2 * received + maxFramingBytes;
  }

  /** Throws `invalid_request` if the chunks are far too small. */
  check(taken: number): void {
    if (!this.isExcessive(taken)) return;
    stopReading(this.#req);
    raise('invalid_request', 'The chunks of the body are too small.');
  }
}

const stoppedRequests = new WeakSet<IncomingMessage>();

/** Reads no more of a body, not even to discard it. */
function stopReading(req: IncomingMessage): void {
  stoppedRequests.add(req);
  req.removeAllListeners('readable').removeAllListeners('data').pause();
  req.socket.pause();
}

/** Reads a body that has arrived completely. This needs no timer, and an iterator would take longer than the rest. */
function wholeBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
      .once('error', reject);
  });
}

/** The next chunk of a body; undefined at its end. Throws `request_timeout` when it does not arrive in time. */
export function nextChunk(chunks: AsyncIterator<unknown>, withinMs: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new AppError('request_timeout', 'The request did not arrive completely in time.'));
    }, withinMs);
    chunks.next().then(
      ({ value, done }) => {
        clearTimeout(timer);
        // Chunks are buffers because no encoding is set.
        resolve(done ? undefined : (value as Buffer));
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/**
 * Discards the rest of a body. Closing the connection at once would reset it, and the client would lose the answer. Resolves when
 * the client has stopped sending, or after a time.
 */
export function discardRest(req: IncomingMessage, res: ServerResponse): Promise<void> {
  res.shouldKeepAlive = false;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, discardMs).unref();
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    req.once('end', done).once('close', done);
    if (stoppedRequests.has(req)) return;
    const framing = new Framing(req);
    let discarded = 0;
    // An iterator that was left before the end still listens for `readable`, which would keep the rest from flowing.
    req.removeAllListeners('readable').on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (framing.isExcessive(discarded)) stopReading(req);
    });
  });
}

/**
 * Discards a body of unknown length. Its connection stays open if the body ends within a number of bytes, or in the time that a
 * longer one has.
 */
export function discardOfUnknownLength(req: IncomingMessage, res: ServerResponse, bytes: number): void {
  const framing = new Framing(req);
  let discarded = 0;
  const count = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded <= bytes && !framing.isExcessive(discarded)) return;
    req.off('data', count);
    void discardRest(req, res).then(() => req.complete || req.socket.destroy());
  };
  req.on('data', count);
}
