import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EventStream } from '../../rest-compat/event-chunks.ts';

export const defaultUnsentBytes = 67_108_864;

/**
 * Up to this size a body is written at once, which takes one system call instead of several. The client must read it within the
 * time for which it may leave a longer body unread.
 */
const wholeBytes = 524_288;

/** A longer body is written in pieces of this size, so that each piece that the client reads is noticed as progress. */
export const pieceBytes = 65_536;

/** The maximum number of bytes of a stream in memory: a chunk of the file, and what the connection buffers. */
const streamBytes = 131_072;

const nothing = new Uint8Array();

/** A comment, which keeps the connection of an event stream open. */
const comment = Buffer.from(':\n\n');

/**
 * Up to this size events are framed here. Larger ones, for streams that are far behind, would be in memory twice while they wait for
 * slow clients.
 */
const framedBytes = 8_192;

/** Events as chunks of HTTP. Thousands of equal streams send the same events. */
const chunks = new WeakMap<Uint8Array, Buffer>();

export interface UnsentLimits {
  /** How many bytes of answers may wait for clients to read them, over all connections. */
  readonly maxBytes: number;
  /** How long a client may read nothing of an answer. */
  readonly silenceMs: number;
  /** Called for each connection with a stream of events, or with WebSocket, that is cut. */
  readonly onStreamCut?: () => void;
  /** Called for each client that is disconnected, with the bytes that it has not read and the time since it last read. */
  readonly onCut?: (bytes: number, silentMs: number) => void;
}

/** The memory of one answer until its client has read it. */
interface HeldAnswer {
  readonly socket: Socket;
  /** Whether it is an event of a stream, or a message of a WebSocket. */
  readonly isEvent: boolean;
  bytes: number;
  /** Whether the client was disconnected because it did not read. */
  isCut: boolean;
  /** When it began to wait. */
  readonly sinceMs: number;
}

/**
 * Limits the memory of answers whose clients read slowly. Each answer counts until its client has read it. When all answers
 * together are too large, the clients with the most unread bytes over the longest time are disconnected. A client that reads
 * nothing for `silenceMs` is always disconnected. The newest answer is never dropped, so that an answer larger than the limit
 * can be sent.
 */
export class Unsent {
  readonly #limits: UnsentLimits;
  readonly #now: () => number;
  readonly #held = new Set<HeldAnswer>();
  /** When the client of a connection last read something. Over a WebSocket it may have several answers to read. */
  readonly #readMs = new WeakMap<Socket, number>();
  #bytes = 0;
  #cut = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(limits: UnsentLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** The bytes that wait for clients at the moment, and the number of clients that were disconnected. */
  get load(): { bytes: number; cut: number } {
    return { bytes: this.#bytes, cut: this.#cut };
  }

  /**
   * Sends the body, if any, and ends the answer. Resolves when everything is sent or the connection is closed. The body is sent
   * immediately, but the answer is ended, and its connection closed, only after `unread`.
   */
  async send(res: ServerResponse, body: Uint8Array = nothing, unread?: Promise<void>): Promise<void> {
    const { socket } = res.req;
    const answer = { socket, bytes: body.length, isEvent: false };
    if (body.length <= wholeBytes && !unread) {
      res.end(body);
      // The system takes over nearly all answers at once.
      if (socket.writableLength === 0) return;
      return this.#whileHeld(answer, () => settled(res, 'finish'));
    }
    return this.#whileHeld(answer, async (held) => {
      res.flushHeaders();
      await this.#write(res, body, held);
      if (socket.destroyed) return;
      await unread;
      res.end();
      await settled(res, 'finish');
    });
  }

  /** Sends a stream at the speed at which the client reads, and ends the answer. Rejects when the stream fails. */
  async stream(res: ServerResponse, body: Readable): Promise<void> {
    return this.#whileHeld({ socket: res.req.socket, bytes: streamBytes, isEvent: false }, (held) => {
      res.on('drain', () => this.#noteRead(held, 0));
      return pipeline(body, res);
    });
  }

  /**
   * Sends events as they come, and ends the answer after the last. The next event is requested when the client has read the
   * previous ones, so only those count, and only while they wait.
   */
  async events(res: ServerResponse, events: EventStream): Promise<void> {
    const { socket } = res.req;
    // The headers go out with the first event, in one write: every stream begins with one that is ready.
    events.onHeartbeat = () => {
      if (res.writableLength === 0) socket.write(asHttpChunk(res, comment));
    };
    for await (const event of events) {
      if (res.destroyed || res.closed) return;
      // `res.write` costs three times as much, which matters with ten thousand streams. It sends the headers, and waits for slow
      // clients.
      if (res.headersSent && res.writableLength === 0 && isSmall(event)) {
        socket.write(asHttpChunk(res, event));
        continue;
      }
      const isLong = typeof event !== 'string' && event.length > pieceBytes;
      if (!isLong && res.write(event)) continue;
      const bytes = isLong ? event.length : socket.writableLength;
      const send = (held: HeldAnswer) => (isLong ? this.#write(res, event, held) : settled(res, 'drain'));
      await this.#whileHeld({ socket, bytes, isEvent: true }, send);
    }
    res.end();
  }

  /**
   * Counts bytes that a connection has not taken yet, until they are sent or the connection is closed. `send` calls its argument
   * with the bytes that were taken.
   */
  async holding(
    socket: Socket,
    bytes: number,
    send: (took: (bytes: number) => void) => Promise<void>,
  ): Promise<void> {
    return this.#whileHeld({ socket, bytes, isEvent: true }, (held) =>
      send((taken) => this.#noteRead(held, taken)),
    );
  }

  async #whileHeld(
    answer: Pick<HeldAnswer, 'socket' | 'bytes' | 'isEvent'>,
    send: (held: HeldAnswer) => Promise<void>,
  ): Promise<void> {
    const held: HeldAnswer = { ...answer, isCut: false, sinceMs: this.#now() };
    this.#held.add(held);
    this.#bytes += held.bytes;
    this.#makeRoom(held);
    this.#watch ??= setInterval(() => this.#cutSilent(), this.#limits.silenceMs / 10).unref();
    try {
      await send(held);
    } finally {
      this.#noteRead(held, held.bytes);
      this.#held.delete(held);
      if (this.#held.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      }
    }
  }

  /** Writes bytes piece by piece, at the speed at which the client reads. */
  async #write(res: ServerResponse, bytes: Uint8Array, held: HeldAnswer): Promise<void> {
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      const piece = bytes.subarray(start, start + pieceBytes);
      if (!res.write(piece)) await settled(res, 'drain');
      if (held.socket.destroyed) return;
      this.#noteRead(held, piece.length);
    }
  }

  #noteRead(held: HeldAnswer, bytes: number): void {
    // Dropped bytes no longer count.
    if (held.isCut) return;
    held.bytes -= bytes;
    this.#bytes -= bytes;
    this.#readMs.set(held.socket, this.#now());
  }

  /** How long ago the client last read something. */
  #silentMs({ socket, sinceMs }: HeldAnswer): number {
    return this.#now() - Math.max(sinceMs, this.#readMs.get(socket) ?? 0);
  }

  #makeRoom(newest: HeldAnswer): void {
    while (this.#bytes > this.#limits.maxBytes) {
      const worst = this.#worstExcept(newest);
      if (!worst) return;
      this.#disconnect(worst);
    }
  }

  /** The answer with the largest product of bytes and waiting time. A large answer that is being read has a small one. */
  #worstExcept(newest: HeldAnswer): HeldAnswer | undefined {
    let worst: HeldAnswer | undefined;
    let worstWeight = -1;
    for (const held of this.#held) {
      const weight = held.bytes * (this.#silentMs(held) + 1);
      if (held === newest || weight <= worstWeight) continue;
      worst = held;
      worstWeight = weight;
    }
    return worst;
  }

  #cutSilent(): void {
    for (const held of this.#held) if (this.#silentMs(held) >= this.#limits.silenceMs) this.#disconnect(held);
  }

  /** Disconnects a client. Its bytes no longer count, because the answer is dropped when the connection is closed. */
  #disconnect(held: HeldAnswer): void {
    // Several messages of one connection may be held.
    if (!held.socket.destroyed) {
      this.#cut += 1;
      this.#limits.onCut?.(held.bytes, this.#silentMs(held));
      if (held.isEvent) this.#limits.onStreamCut?.();
    }
    this.#held.delete(held);
    this.#bytes -= held.bytes;
    held.bytes = 0;
    held.isCut = true;
    held.socket.destroy();
  }
}

function isSmall(event: string | Uint8Array): event is Uint8Array {
  return typeof event !== 'string' && event.length <= framedBytes;
}

/** A piece of the body as it is sent on the connection. */
function asHttpChunk(res: ServerResponse, piece: Uint8Array): Uint8Array {
  if (!res.chunkedEncoding) return piece;
  let chunk = chunks.get(piece);
  if (!chunk) {
    chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
    chunks.set(piece, chunk);
  }
  return chunk;
}

/** Resolves with the event, or when the connection is closed. */
function settled(res: ServerResponse, event: 'drain' | 'finish'): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off(event, done).off('close', done);
      resolve();
    };
    res.on(event, done).on('close', done);
    if (res.destroyed || res.closed) done();
  });
}
