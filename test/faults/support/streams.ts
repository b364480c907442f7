import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How many streams are opened at once, each on a new connection. */
const openedAtOnce = 200;
const retryMs = 100;

interface StreamsOptions {
  readonly url: string;
  readonly token: string;
  /** The cursor to begin after. */
  readonly cursor: string;
}

/** The client of one stream, with its position in the log. */
interface Reader {
  cursor: string;
  position: number;
  socket: Socket | undefined;
  /** After how long it reconnects when its stream has ended, as the last `retry` said. */
  retryMs: number;
}

/**
 * Many clients of the subscription to all changes, on bare sockets, because HTTP clients would use more CPU than the server.
 * Each sees every position once and in order, and comes back from its last id when its stream ends.
 */
export class Streams {
  /** Descriptions of errors: positions that are missing or repeated, and streams that end with `complete`. */
  readonly wrong: string[] = [];
  /** For each stream that has ended, how long its client was disconnected. */
  readonly awayMs: number[] = [];
  refused = 0;
  readonly #options: StreamsOptions;
  readonly #readers: Reader[];
  #isStopping = false;

  constructor(count: number, options: StreamsOptions) {
    this.#options = options;
    const { cursor } = options;
    const position = positionOf(cursor);
    this.#readers = Array.from({ length: count }, () => ({
      cursor,
      position,
      socket: undefined,
      retryMs: 0,
    }));
  }

  /** The streams that are open. */
  get open(): number {
    return this.#readers.filter(({ socket }) => socket).length;
  }

  /** The lowest position that a client has reached. */
  get position(): number {
    return this.#readers.reduce((least, { position }) => Math.min(least, position), Infinity);
  }

  /** Resolves when all are open. */
  async start(): Promise<void> {
    const waiting = [...this.#readers];
    const work = async () => {
      for (let reader = waiting.pop(); reader; reader = waiting.pop()) await this.#openUntilStarted(reader);
    };
    await Promise.all(Array.from({ length: openedAtOnce }, work));
  }

  stop(): void {
    this.#isStopping = true;
    for (const { socket } of this.#readers) socket?.destroy();
  }

  async #openUntilStarted(reader: Reader): Promise<void> {
    while (!this.#isStopping && !(await this.#open(reader))) {
      this.refused += 1;
      await delay(retryMs);
    }
  }

  /** Tries to open a stream, and resolves with whether it has begun. */
  #open(reader: Reader): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { hostname: host, port } = new URL(this.#options.url);
    const body = JSON.stringify({ query: 'subscription { changes { position } }' });
    const socket = connect({ host, port: Number(port), noDelay: true });
    const answer = new Answer();
    let text = '';
    socket.on('connect', () =>
      socket.write(
        `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${this.#options.token}\r\nAccept: text/event-stream\r\n` +
          `Last-Event-ID: ${reader.cursor}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    socket.on('data', (bytes: Buffer) => {
      text += answer.take(bytes.toString('latin1'));
      if (answer.status === undefined) return;
      if (answer.status !== 200) return void socket.destroy();
      if (!reader.socket) {
        reader.socket = socket;
        resolve(true);
      }
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.#read(reader, line);
      // A proxy keeps the connection open for another request.
      if (answer.isOver) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve(false);
      if (reader.socket !== socket) return;
      reader.socket = undefined;
      if (!this.#isStopping) void this.#comeBack(reader);
    });
    return promise;
  }

  #read(reader: Reader, line: string): void {
    if (line.startsWith('event: complete')) this.wrong.push('a stream ended with `complete`');
    if (line.startsWith('retry: ')) reader.retryMs = Number(line.slice('retry: '.length));
    if (!line.startsWith('id: ')) return;
    const cursor = line.slice('id: '.length).trim();
    const position = positionOf(cursor);
    if (position > reader.position + 1 || position < reader.position)
      this.wrong.push(`position ${position} came after ${reader.position}`);
    Object.assign(reader, { cursor, position });
  }

  async #comeBack(reader: Reader): Promise<void> {
    const endedMs = performance.now();
    await delay(reader.retryMs);
    await this.#openUntilStarted(reader);
    this.awayMs.push(performance.now() - endedMs);
  }
}

export function positionOf(cursor: string): number {
  return Number(cursor.split('-')[1]);
}

/** An answer of HTTP in chunks. A proxy may split chunks anywhere, even in the middle of a line. */
class Answer {
  /** Known when the head is complete. */
  status: number | undefined;
  /** Whether the last chunk, which is empty, has arrived. */
  isOver = false;
  #raw = '';

  /** Adds received text, and returns what it completes of the body. */
  take(text: string): string {
    this.#raw += text;
    if (this.status === undefined) {
      const end = this.#raw.indexOf('\r\n\r\n');
      if (end < 0) return '';
      this.status = Number(this.#raw.split(' ', 2)[1]);
      this.#raw = this.#raw.slice(end + 4);
    }
    let body = '';
    for (;;) {
      const start = this.#raw.indexOf('\r\n') + 2;
      const end = start + Number.parseInt(this.#raw.slice(0, start), 16);
      if (start < 2 || !(this.#raw.length >= end + 2)) return body;
      this.isOver = start === end;
      body += this.#raw.slice(start, end);
      this.#raw = this.#raw.slice(end + 2);
    }
  }
}
