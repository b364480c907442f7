import type { Writable } from 'node:stream';
import pg from 'pg';
import type { CellFormats } from './cell-formats.ts';
import type { TextRows } from '../engine/lease.ts';
import { meter } from '../engine/meter.ts';
import { AnswerTooLargeError } from '../engine/read-allowance.ts';
import type { ReceivedRow } from './row-client.ts';
import { runMessages } from './run-messages.ts';
import { bufferPool } from './buffer-pool.ts';
import { WireRow } from './wire-row.ts';

/** What pg calls on a query while its answer comes in, and how it sends one; its types do not say so. */
interface Sending {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string; name: string }): void;
  readonly stream: Writable;
}

const noBuffer = Buffer.alloc(0);

/** What an earlier run of a statement says of its rows: nothing is known of their columns before the first. */
export interface KnownRows {
  readonly types: readonly number[] | undefined;
  readonly formats: CellFormats | undefined;
  /** How long they were, all together. */
  readonly bytes: number;
}

/**
 * A statement on a `RowClient` whose rows stay as PostgreSQL wrote them. pg would look at each value of each row, and
 * would have the columns described anew with each run.
 */
export class TextQuery extends pg.Query {
  declare readonly name: string;
  declare readonly text: string;
  declare readonly values: unknown[];
  /** Set by `run`, and set again by pg, which takes time on it. */
  callback: (error: Error | null, result?: TextRows) => void = () => undefined;
  /** Read by pg, under this name. */
  query_timeout: number | undefined;
  readonly #rows: WireRow[] = [];
  readonly #buffers: Buffer[] = [];
  /** What rows are copied to, filled up to a place. */
  #buffer: Buffer = noBuffer;
  #filled = 0;
  /** From where rows came to where they stand now. */
  #shift = 0;
  #bytes = 0;
  readonly #allowance = meter()?.allowance;
  /** The allowance of the request is used up: rows that still come are dropped. */
  #isTooLarge = false;
  #types: readonly number[] | undefined;
  readonly #formats: CellFormats | undefined;
  readonly #expectedBytes: number;

  /** `known` from an earlier run: the columns, and about how long the rows are all together. */
  constructor(statement: { text: string; name: string | undefined; values: unknown[] }, known: KnownRows) {
    super({ ...statement, name: statement.name ?? '' });
    this.#types = known.types;
    this.#formats = known.formats;
    this.#expectedBytes = known.bytes;
  }

  run(client: pg.ClientBase, timeoutMs: number | undefined): Promise<TextRows> {
    this.query_timeout = timeoutMs;
    return new Promise((resolve, reject) => {
      this.callback = (error, result) =>
        result ? resolve(result) : reject(error ?? new Error('No answer.'));
      client.query(this);
    });
  }

  /** Named and known statements are not parsed again, and known columns not described. */
  prepare(connection: Sending): void {
    const { name, text, values } = this;
    const isParsed =
      name !== '' &&
      (connection.parsedStatements[name] !== undefined ||
        connection.submittedNamedStatements[name] !== undefined);
    if (!isParsed) {
      connection.parse({ text, name });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    const asked = { describes: this.#types === undefined, formats: this.#formats };
    connection.stream.write(runMessages(name, values, asked));
  }

  requiresPreparation(): boolean {
    return true;
  }

  handleRowDescription({ fields }: { fields: { dataTypeID: number }[] }): void {
    this.#types = fields.map(({ dataTypeID }) => dataTypeID);
  }

  /** Rows that came together are copied together, with the first of them. */
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

  /** How long the rows were, all together. */
  get bytes(): number {
    return this.#bytes;
  }

  handleCommandComplete(): void {
    // The answer is whole when the connection is ready for the next one.
  }

  handleReadyForQuery(): void {
    const release = () => {
      for (const buffer of this.#buffers) bufferPool.give(buffer);
    };
    if (this.#isTooLarge) {
      release();
      this.callback(new AnswerTooLargeError());
    } else {
      this.callback(null, { rows: this.#rows, types: this.#types ?? [], release });
    }
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
