import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { WireRow } from './wire-row.ts';

/** pg calls this when the socket, or the TLS socket over it, is ready. The types of pg do not declare it. */
interface PgConnectionInternals extends EventEmitter {
  attachListeners(stream: EventEmitter): void;
}

/** How many bytes are read at once. */
const readBytes = 65_536;

/**
 * A client that passes rows on as bytes, which are valid only while the row is handled. All other messages of the
 * server are read by pg.
 */
export class RowClient extends pg.Client {
  /** `socketOf` makes the connection's socket, which calls `take` with what it receives. */
  constructor(config?: pg.ClientConfig, socketOf = socketFor) {
    const messages = new Messages();
    const stream = (options: { ssl?: unknown }) => socketOf(options, (bytes) => messages.take(bytes));
    // pg calls it with the options of the connection. Its types declare no parameter.
    super({ ...config, stream: stream as () => Duplex });
    // The connection that pg created. A subclass of it would have to parse the connection string again. It has no type.
    const { connection } = this as unknown as { connection: PgConnectionInternals };
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream: EventEmitter) => {
      const others = new EventEmitter();
      attach(others);
      // The listener of pg, which is set before the first row. Emitting an event would allocate an argument list for
      // each row.
      let handle: ((row: ReceivedRow) => void) | undefined;
      messages.listen(
        (row) => {
          handle ??= connection.listeners('dataRow')[0] as (row: ReceivedRow) => void;
          handle(row);
        },
        (bytes) => others.emit('data', bytes),
      );
      stream.on('data', (chunk: Buffer) => messages.take(chunk));
      stream.on('end', () => others.emit('end'));
    };
  }
}

/** A socket that always reads into the same buffer. Under TLS it is an ordinary socket. */
function socketFor({ ssl }: { ssl?: unknown }, take: (bytes: Buffer) => void): Duplex {
  if (ssl) return new Socket();
  const onread = {
    buffer: Buffer.allocUnsafeSlow(readBytes),
    callback: (length: number, buffer: Uint8Array) => {
      take((buffer as Buffer).subarray(0, length));
      return true;
    },
  };
  return new Socket({ onread });
}

const noBytes = Buffer.alloc(0);

/** One row while it is handled. The object and its bytes are reused for the next row. */
export class ReceivedRow {
  bytes: Buffer = noBytes;
  /** The position of the number of cells. */
  start = 0;
  /** The end of the last row that arrived in the same chunk. Each row has a message header before it. */
  runEnd = 0;
  /** Whether it is the first row of the chunk. */
  isFirst = true;

  /** All cells as text. pg reads this property. */
  get fields(): (string | null)[] {
    return new WireRow(this.bytes, this.start).fields;
  }
}

/** `D`, the type of a message with one row. */
const dataRow = 0x44;
/** A message begins with a byte for its type and four for its length. */
const headLength = 5;

/** Separates the rows from the other messages of the server. Data arrives in chunks that end anywhere in a message. */
class Messages {
  readonly #received = new ReceivedRow();
  #row: (row: ReceivedRow) => void = () => undefined;
  #others: (bytes: Buffer) => void = () => undefined;
  /** The beginning of an incomplete message: either less than its header, or a buffer for all of it. */
  #head: Buffer | undefined;
  #part: Buffer | undefined;
  #filled = 0;

  listen(row: (row: ReceivedRow) => void, others: (bytes: Buffer) => void): void {
    this.#row = row;
    this.#others = others;
  }

  take(received: Buffer): void {
    const chunk = this.#head ? Buffer.concat([this.#head, received]) : received;
    this.#head = undefined;
    let at = this.#complete(chunk);
    /** The beginning of the messages that are not rows and have not been passed on yet. */
    let from = at;
    while (chunk.length - at >= headLength) {
      const end = at + 1 + chunk.readInt32BE(at + 1);
      if (end > chunk.length) break;
      if (chunk[at] === dataRow) {
        if (from < at) this.#others(chunk.subarray(from, at));
        from = this.#passRun(chunk, at, end);
        at = from;
      } else {
        at = end;
      }
    }
    if (from < at) this.#others(chunk.subarray(from, at));
    if (at < chunk.length) this.#keep(chunk.subarray(at));
    // An idle connection would keep its last chunk alive: a large row, or the whole memory of an embedded engine that
    // is closed.
    this.#received.bytes = noBytes;
  }

  /** Passes on the row that begins at `first` and all complete rows after it. Returns the position of their end. */
  #passRun(chunk: Buffer, first: number, firstEnd: number): number {
    let runEnd = firstEnd;
    while (chunk.length - runEnd >= headLength && chunk[runEnd] === dataRow) {
      const end = runEnd + 1 + chunk.readInt32BE(runEnd + 1);
      if (end > chunk.length) break;
      runEnd = end;
    }
    for (let at = first; at < runEnd; at += 1 + chunk.readInt32BE(at + 1))
      this.#pass(chunk, at + headLength, runEnd, at === first);
    return runEnd;
  }

  #pass(bytes: Buffer, start: number, runEnd: number, isFirst: boolean): void {
    const received = this.#received;
    received.bytes = bytes;
    received.start = start;
    received.runEnd = runEnd;
    received.isFirst = isFirst;
    this.#row(received);
  }

  #keep(rest: Buffer): void {
    if (rest.length < headLength) {
      this.#head = Buffer.from(rest);
      return;
    }
    this.#part = Buffer.allocUnsafeSlow(1 + rest.readInt32BE(1));
    this.#filled = rest.copy(this.#part);
  }

  /** Adds the chunk to an incomplete message. Returns the position of the next message in the chunk. */
  #complete(chunk: Buffer): number {
    const part = this.#part;
    if (!part) return 0;
    const taken = chunk.copy(part, this.#filled);
    this.#filled += taken;
    if (this.#filled < part.length) return chunk.length;
    this.#part = undefined;
    if (part[0] === dataRow) this.#pass(part, headLength, part.length, true);
    else this.#others(part);
    return taken;
  }
}
