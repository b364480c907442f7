import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import pg from 'pg';
import { WireRow } from './wire-row.ts';

/** What pg calls once the socket, or the encrypted one on it, is there; its types do not say so. */
interface Listening extends EventEmitter {
  attachListeners(stream: EventEmitter): void;
}

/** Bytes that are read at once. */
const readBytes = 65_536;

/**
 * A client that gives the rows of answers as bytes, for as long as it takes to handle them. Everything else that the
 * server says is read by pg.
 */
export class RowClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    const messages = new Messages();
    const stream = (given: { ssl?: unknown }) => socketFor(given, messages);
    // pg gives it what it knows of the connection; its types do not say so.
    super({ ...config, stream: stream as () => Socket });
    // Made by pg as the connection string says, which a subclass of it would have to read again; no type names it.
    const { connection } = this as unknown as { connection: Listening };
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream: EventEmitter) => {
      const others = new EventEmitter();
      attach(others);
      // pg's own listener, which is there before any row: emitting would make a list of arguments for each of them.
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

/** A socket that reads into the same bytes again and again; not where it only carries an encrypted one. */
function socketFor({ ssl }: { ssl?: unknown }, messages: Messages): Socket {
  if (ssl) return new Socket();
  const onread = {
    buffer: Buffer.allocUnsafeSlow(readBytes),
    callback: (length: number, buffer: Uint8Array) => {
      messages.take((buffer as Buffer).subarray(0, length));
      return true;
    },
  };
  return new Socket({ onread });
}

/** One row while it is handled: the bytes are those of the next one afterwards. */
export class ReceivedRow {
  bytes: Buffer = Buffer.alloc(0);
  /** Where the number of cells stands. */
  start = 0;
  /** Where rows end that came with this one and stand behind it, a head before each; its own end when it is the last. */
  runEnd = 0;
  /** Is it the first of those. */
  isFirst = true;

  /** The texts of all cells, under the name that pg knows them by. */
  get fields(): (string | null)[] {
    return new WireRow(this.bytes, this.start).fields;
  }
}

/** `D`, the message of one row. */
const dataRow = 0x44;
/** The kind of a message, and its length with the length itself. */
const headLength = 5;

/** Tells the rows from the other messages of a server, which come in pieces that know nothing of messages. */
class Messages {
  readonly #received = new ReceivedRow();
  #row: (row: ReceivedRow) => void = () => undefined;
  #others: (bytes: Buffer) => void = () => undefined;
  /** The beginning of a message that has not come whole: less than a head, or room for all of it. */
  #head: Buffer | undefined;
  #part: Buffer | undefined;
  #filled = 0;

  listen(row: (row: ReceivedRow) => void, others: (bytes: Buffer) => void): void {
    this.#row = row;
    this.#others = others;
  }

  take(given: Buffer): void {
    const chunk = this.#head ? Buffer.concat([this.#head, given]) : given;
    this.#head = undefined;
    let at = this.#complete(chunk);
    /** Where those messages begin that are no rows and have not been handed on. */
    let from = at;
    while (chunk.length - at >= headLength) {
      const end = at + 1 + chunk.readInt32BE(at + 1);
      if (end > chunk.length) break;
      if (chunk[at] === dataRow) {
        if (from < at) this.#others(chunk.subarray(from, at));
        from = this.#giveRun(chunk, at, end);
        at = from;
      } else {
        at = end;
      }
    }
    if (from < at) this.#others(chunk.subarray(from, at));
    if (at < chunk.length) this.#keep(chunk.subarray(at));
  }

  /** Gives the row that begins there and those behind it that have come whole; says where they end. */
  #giveRun(chunk: Buffer, first: number, firstEnd: number): number {
    let runEnd = firstEnd;
    while (chunk.length - runEnd >= headLength && chunk[runEnd] === dataRow) {
      const end = runEnd + 1 + chunk.readInt32BE(runEnd + 1);
      if (end > chunk.length) break;
      runEnd = end;
    }
    for (let at = first; at < runEnd; at += 1 + chunk.readInt32BE(at + 1))
      this.#give(chunk, at + headLength, runEnd, at === first);
    return runEnd;
  }

  #give(bytes: Buffer, start: number, runEnd: number, isFirst: boolean): void {
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

  /** Fills up the message that had begun; says where in the chunk the next one begins. */
  #complete(chunk: Buffer): number {
    const part = this.#part;
    if (!part) return 0;
    const taken = chunk.copy(part, this.#filled);
    this.#filled += taken;
    if (this.#filled < part.length) return chunk.length;
    this.#part = undefined;
    if (part[0] === dataRow) this.#give(part, headLength, part.length, true);
    else this.#others(part);
    return taken;
  }
}
