import { createHash } from 'node:crypto';
import type { Compilable, CompiledQuery } from 'kysely';
import { type CellFormats, cellFormats } from '../wire/cell-formats.ts';
import { Slot } from './slots.ts';
import { signalsOf, type WriteSignal } from './write-signals.ts';

/** The values for the slots of one run, by their names. */
export type Values = Readonly<Record<string, unknown>>;

/** A statement that usually takes less time than this counts as quick. */
const quickMs = 10;

/**
 * The maximum number of statements that one connection prepares by name. Each takes tens of kilobytes in PostgreSQL.
 */
export const maxPreparedNames = 1_000;

/** A statement that was compiled once: its text, its name as a prepared statement, and its parameters. */
export class Prepared {
  readonly text: string;
  readonly name: string;
  /** The types of its columns as OIDs; known after the first run. */
  types: readonly number[] | undefined;
  /** The formats in which its cells are requested, once the types are known. */
  formats: CellFormats | undefined;
  /** The total size of the rows of the last run. */
  bytes = 0;
  /**
   * The index of the first of the two columns with the stop of a bounded statement (`stopColumns`); undefined for
   * other statements.
   */
  readonly stopColumn: number | undefined;
  /**
   * The index of the column that says whether a bounded count has reached its bound; undefined for other statements.
   */
  readonly boundColumn: number | undefined;
  /** The signals that are sent in this process when the statement has been committed. */
  readonly signals: readonly WriteSignal[];
  readonly #parameters: readonly unknown[];
  /** An average duration of its runs, in which recent runs have more weight. */
  #usualMs = Number.POSITIVE_INFINITY;

  constructor(
    query: Compilable<unknown> | CompiledQuery,
    { stopColumn, boundColumn }: { stopColumn?: number; boundColumn?: number } = {},
  ) {
    this.stopColumn = stopColumn;
    this.boundColumn = boundColumn;
    const { sql, parameters } = 'compile' in query ? query.compile() : query;
    this.text = sql;
    this.name = createHash('sha1').update(sql).digest('base64url');
    this.signals = signalsOf(sql);
    this.#parameters = parameters;
  }

  /** Whether it usually takes little time, so that other statements can wait for it on a shared connection. */
  get isQuick(): boolean {
    return this.#usualMs < quickMs;
  }

  /** Records how long a run used the connection, whether it succeeded or failed. */
  recordDuration(ms: number): void {
    this.#usualMs = Number.isFinite(this.#usualMs) ? this.#usualMs + (ms - this.#usualMs) / 4 : ms;
  }

  /** Records the column types and the size of the rows of a run. */
  recordRows(types: readonly number[], bytes: number): void {
    this.bytes = bytes;
    if (this.types === types) return;
    this.types = types;
    this.formats = cellFormats(types);
  }

  /** The parameters of one run. Throws if a slot has no value, which is a bug. */
  bind(values: Values): unknown[] {
    return this.#parameters.map((parameter) => {
      if (!(parameter instanceof Slot)) return parameter;
      if (!(parameter.name in values)) throw new Error(`The slot ${parameter.name} has no value.`);
      return values[parameter.name];
    });
  }
}
