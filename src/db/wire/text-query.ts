import type { Writable } from 'node:stream';
import pg from 'pg';
import type { CellFormats } from './cell-formats.ts';
import type { TextRows } from '../engine/borrowed-connection.ts';
import { meter } from '../engine/meter.ts';
import { AnswerTooLargeError } from '../engine/read-allowance.ts';
import { readTimeout } from '../engine/unavailable.ts';
import type { ReceivedRow } from './row-client.ts';
import { runMessages } from './run-messages.ts';
import { bufferPool } from './buffer-pool.ts';
import { WireRow } from './wire-row.ts';

/** The members of the connection of pg that sending a query needs. The types of pg do not declare them. */
interface PgConnectionInternals {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string; name: string }): void;
  readonly stream: Writable;
}

const noBuffer = Buffer.alloc(0);

/** What is known about the rows of a statement from an earlier run. */
export interface KnownRows {
  readonly types: readonly number[] | undefined;
  readonly formats: CellFormats | undefined;
  /** The length of all rows together. */
  readonly bytes: number;
}

/**
 * A statement on a `RowClient` whose rows stay bytes. pg itself would convert each value of each row and have the
 * columns described in each run.
 */
export class TextQuery extends pg.Query {
  declare readonly name: string;
  declare readonly text: string;
  declare readonly values: unknown[];
  /** Closes the connection if the answer does not come in time. */
  #timeout: NodeJS.Timeout | undefined;
  #resolve: (rows: TextRows) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  readonly #rows: WireRow[] = [];
  readonly #buffers: Buffer[] = [];
  /** The buffer that rows are copied to, which is filled up to `#filled`. */
  #buffer: Buffer = noBuffer;
  #filled = 0;
  /** The difference between the positions of rows in the socket's buffer and in this one. */
  #shift = 0;
  #bytes = 0;
  readonly #allowance = meter()?.allowance;
  /** Whether the allowance of the request is used up. Further rows are discarded. */
  #isTooLarge = false;
  #types: readonly number[] | undefined;
  readonly #formats: CellFormats | undefined;
  readonly #expectedBytes: number;

  /** `known` comes from an earlier run. */
  constructor(statement: { text: string; name: string | undefined; values: unknown[] }, known: KnownRows) {
    super({ ...statement, name: statement.name ?? '' });
    this.#types = known.types;
    this.#formats = known.formats;
    this.#expectedBytes = known.bytes;
  }

  /**
   * Rejects after `timeoutMs`, and closes the connection, on which the answer is still to come. The callback and the
   * timeout of pg are not used: closures over the functions of the promise would keep the rows of hundreds of
   * statements until V8's next full collection.
   */
  run(client: pg.ClientBase, timeoutMs: number | undefined): Promise<TextRows> {
    if (timeoutMs !== undefined) this.#timeout = setTimeout(giveUp, timeoutMs, this, client);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      client.query(this);
    });
  }

  /** Skips Parse for a statement that the connection has parsed, and Describe if the columns are known. */
  prepare(connection: PgConnectionInternals): void {
    const { name, text, values } = this;
    const isParsed =
      name !== '' &&
      (connection.parsedStatements[name] !== undefined ||
        connection.submittedNamedStatements[name] !== undefined);
    if (!isParsed) {
      connection.parse({ text, name });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    const options = { describes: this.#types === undefined, formats: this.#formats };
    connection.stream.write(runMessages(name, values, options));
  }

  requiresPreparation(): boolean {
    return true;
  }

  handleRowDescription({ fields }: { fields: { dataTypeID: number }[] }): void {
    this.#types = fields.map(({ dataTypeID }) => dataTypeID);
  }

  /** The first row of a chunk copies all rows of the chunk. */
  handleDataRow({ bytes, start, runEnd, isFirst }: ReceivedRow): void {
    if (isFirst) this.#copy(bytes, start, runEnd);
    if (this.#isTooLarge) return;
    this.#rows.push(new WireRow(this.#buffer, start + this.#shift, this.#formats));
  }

  #copy(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#isTooLarge ||= this.#allowance?.spend(length) === false;
    if (this.#isTooLarge) return;
    if (this.#buffer.length - this.#filled < length) {
      this.#buffer = bufferPool.take(Math.max(length, this.#buffer.length * 2, this.#expectedBytes));
      this.#buffers.push(this.#buffer);
      this.#filled = 0;
    }
    this.#shift = this.#filled - start;
    this.#filled += bytes.copy(this.#buffer, this.#filled, start, end);
    this.#bytes += length;
  }

  /** The length of all rows together. */
  get bytes(): number {
    return this.#bytes;
  }

  handleCommandComplete(): void {
    // The answer is complete only when the connection is ready for the next statement.
  }

  handleReadyForQuery(): void {
    clearTimeout(this.#timeout);
    const release = () => {
      for (const buffer of this.#buffers) bufferPool.give(buffer);
    };
    if (this.#isTooLarge) {
      release();
      this.#reject(new AnswerTooLargeError());
    } else {
      this.#resolve({ rows: this.#rows, types: this.#types ?? [], release });
    }
  }

  handleError(error: Error): void {
    clearTimeout(this.#timeout);
    this.#reject(error);
  }
}

/** With the message of pg, by which `isConnectionLoss` recognizes it. */
function giveUp(query: TextQuery, client: pg.ClientBase): void {
  query.handleError(new Error(readTimeout));
  streamOf(client).destroy();
}

/** The socket of a connection. The types of pg do not declare it. */
export function streamOf(client: pg.ClientBase): Writable {
  return (client as unknown as { connection: PgConnectionInternals }).connection.stream;
}
