import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export const defaultUnsentBytes = 67_108_864;

/** A body is written in pieces of this size, so that each piece that the client takes is seen as progress. */
const pieceBytes = 65_536;

/** What is held of a stream at most: a piece of the file, and what the connection buffers. */
const streamBytes = 131_072;

const nothing = new Uint8Array();

export interface UnsentLimits {
  /** Bytes of answers that clients have not taken yet, over all connections. */
  readonly maxBytes: number;
  /** How long a client may take nothing of an answer. */
  readonly silenceMs: number;
  /** Hears of each client that is disconnected: how much it had not taken, and since when it had taken nothing. */
  readonly onCut?: (bytes: number, silentMs: number) => void;
}

/** What one answer holds in memory until its client has taken it. */
interface Held {
  readonly socket: Socket;
  bytes: number;
  /** When the client last took something. */
  sinceMs: number;
}

/**
 * Bounds the memory of answers whose clients read slowly. Each answer is counted while it waits for its client. When all
 * together are too large, the clients that hold most and have taken nothing for longest are disconnected, and any client
 * that has taken nothing for `silenceMs` is. The newest answer is never given up for room, so that one that is larger than
 * the bound can be sent.
 */
export class Unsent {
  readonly #limits: UnsentLimits;
  readonly #now: () => number;
  /** In the order of the last progress: whoever has taken nothing for the longest time comes first. */
  readonly #held = new Set<Held>();
  #bytes = 0;
  #cut = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(limits: UnsentLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Bytes that wait for clients now, and how many clients have been disconnected so far. */
  get load(): { bytes: number; cut: number } {
    return { bytes: this.#bytes, cut: this.#cut };
  }

  /**
   * Ends an answer with its body, if it has one. Settles when all of it is sent, or the connection is gone. The answer goes
   * out at once, but is ended, and its connection closed, only after `unread`.
   */
  async send(res: ServerResponse, body: Uint8Array = nothing, unread?: Promise<void>): Promise<void> {
    const { socket } = res.req;
    if (body.length <= pieceBytes && !unread) {
      res.end(body);
      // Nearly all answers are taken over by the system at once.
      if (socket.writableLength === 0) return;
      return this.#whileHeld(socket, body.length, () => settled(res, 'finish'));
    }
    return this.#whileHeld(socket, body.length, async (held) => {
      res.flushHeaders();
      for (let start = 0; start < body.length; start += pieceBytes) {
        const piece = body.subarray(start, start + pieceBytes);
        if (!res.write(piece)) await settled(res, 'drain');
        if (socket.destroyed) return;
        this.#took(held, piece.length);
      }
      await unread;
      res.end();
      await settled(res, 'finish');
    });
  }

  /** Ends an answer with what comes from a stream, no faster than the client takes it. Fails when the stream does. */
  async stream(res: ServerResponse, body: Readable): Promise<void> {
    return this.#whileHeld(res.req.socket, streamBytes, (held) => {
      res.on('drain', () => this.#took(held, 0));
      return pipeline(body, res);
    });
  }

  async #whileHeld(socket: Socket, bytes: number, send: (held: Held) => Promise<void>): Promise<void> {
    const held: Held = { socket, bytes, sinceMs: this.#now() };
    this.#held.add(held);
    this.#bytes += bytes;
    this.#makeRoom(held);
    this.#watch ??= setInterval(() => this.#cutSilent(), this.#limits.silenceMs / 10).unref();
    try {
      await send(held);
    } finally {
      this.#held.delete(held);
      this.#bytes -= held.bytes;
      if (this.#held.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      }
    }
  }

  #took(held: Held, bytes: number): void {
    held.bytes -= bytes;
    this.#bytes -= bytes;
    held.sinceMs = this.#now();
    this.#held.delete(held);
    this.#held.add(held);
  }

  #makeRoom(newest: Held): void {
    while (this.#bytes > this.#limits.maxBytes) {
      const worst = this.#worstBut(newest);
      if (!worst) return;
      this.#disconnect(worst);
    }
  }

  /** Whose bytes have been in the way for longest: a large answer that its client does read is not soon the worst. */
  #worstBut(newest: Held): Held | undefined {
    const nowMs = this.#now();
    let worst: Held | undefined;
    let most = -1;
    for (const held of this.#held) {
      const weight = held.bytes * (nowMs - held.sinceMs + 1);
      if (held === newest || weight <= most) continue;
      worst = held;
      most = weight;
    }
    return worst;
  }

  #cutSilent(): void {
    const nowMs = this.#now();
    for (const held of this.#held) {
      if (nowMs - held.sinceMs < this.#limits.silenceMs) return;
      this.#disconnect(held);
    }
  }

  /** Its bytes no longer count: the answer finds its connection gone, and is dropped. */
  #disconnect(held: Held): void {
    this.#cut += 1;
    this.#limits.onCut?.(held.bytes, this.#now() - held.sinceMs);
    this.#held.delete(held);
    this.#bytes -= held.bytes;
    held.bytes = 0;
    held.socket.destroy();
  }
}

/** Settles with the event, or when the connection is gone. */
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
