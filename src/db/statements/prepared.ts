import { createHash } from 'node:crypto';
import { type Compilable, CompiledQuery } from 'kysely';
import { type CellFormats, cellFormats } from '../wire/cell-formats.ts';
import { decoderOf } from '../wire/decoded-types.ts';
import type { Lease } from '../engine/lease.ts';
import { type Predicate, sqlValue } from '../query/conditions/predicate.ts';
import { signalsOf, type WriteSignal } from './write-signals.ts';
import { anyWorkspace, workspaceOf } from '../engine/tenant-handle.ts';
import { Slot } from './slots.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** The values for the slots of one run, by their names. */
export type Values = Readonly<Record<string, unknown>>;

/** A statement that usually takes less time than this counts as quick. */
const quickMs = 10;

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
  /** The index of the column that says whether a bounded count has reached its bound; undefined for other statements. */
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
  took(ms: number): void {
    this.#usualMs = Number.isFinite(this.#usualMs) ? this.#usualMs + (ms - this.#usualMs) / 4 : ms;
  }

  /** Records the column types and the size of the rows of a run. */
  answered(types: readonly number[], bytes: number): void {
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

/** A select that is compiled once. Its rows are the same objects as those of Kysely. */
export class PreparedSelect<Row> {
  readonly #statement: Prepared;
  readonly #columns: readonly (keyof Row & string)[];

  /** `columns` are the columns that the query selects, in order. */
  constructor(query: Compilable<Row>, columns: readonly (keyof Row & string)[]) {
    this.#statement = new Prepared(query);
    this.#columns = columns;
  }

  /**
   * Runs the statement for the workspace of the handle: on a connection of its own, or in the transaction `db`.
   */
  async send({ connect, db }: Sending, values: Values): Promise<Row[]> {
    const bound = { ...values, workspaceId: workspaceOf(db) };
    if (connect) return this.run(connect, bound);
    const { text } = this.#statement;
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, this.#statement.bind(bound)));
    return rows;
  }

  /** Runs the statement on a connection of its own, and releases it afterwards. */
  async run(connect: () => Promise<Lease>, values: Values): Promise<Row[]> {
    const lease = await connect();
    try {
      const { rows, types } = await lease.texts(this.#statement, values);
      const decoders = types.map(decoderOf);
      return rows.map((texts) => {
        const row: Record<string, unknown> = {};
        for (const [index, column] of this.#columns.entries()) {
          const text = texts[index] ?? null;
          row[column] = text === null ? null : decoders[index]?.(text);
        }
        // The compiler has checked the columns against the row.
        return row as Row;
      });
    } finally {
      lease.release();
    }
  }
}

/** Where a statement is sent: to a new connection, or, if `connect` is undefined, to the transaction `db`. */
export interface Sending {
  readonly db: TenantDb;
  readonly connect: (() => Promise<Lease>) | undefined;
}

/** Statements by the shape of their arguments. Each is compiled when it is first needed. */
export class StatementsByShape<Shape, Row> {
  readonly #make: (db: TenantDb, shape: Shape) => PreparedSelect<Row>;
  readonly #made = new Map<string, PreparedSelect<Row>>();

  constructor(make: (db: TenantDb, shape: Shape) => PreparedSelect<Row>) {
    this.#make = make;
  }

  send(sending: Sending, shape: Shape, values: Values): Promise<Row[]> {
    const key = JSON.stringify(shape);
    let statement = this.#made.get(key);
    if (!statement) {
      statement = this.#make(anyWorkspace, shape);
      this.#made.set(key, statement);
    }
    return statement.send(sending, values);
  }
}

/** An array of UUIDs in PostgreSQL's text format. UUIDs need no quotes, so this is much cheaper than the conversion of pg. */
export function uuidArray(keys: Iterable<string>): string {
  return `{${[...keys].join(',')}}`;
}

/**
 * Replaces each value in a predicate by a slot, and returns the values by the names of the slots. Predicates that
 * differ only in their values become equal, so they share a statement.
 */
export function slotted(predicate: Predicate, prefix: string): { shape: Predicate; values: Values } {
  const values: Record<string, unknown> = {};
  let count = 0;
  const slot = (value: unknown): Slot => {
    const name = `${prefix}${count}`;
    count += 1;
    values[name] = value;
    return new Slot(name);
  };
  const shaped = (part: Predicate): Predicate => {
    if ('all' in part) return { all: part.all.map(shaped) };
    if ('any' in part) return { any: part.any.map(shaped) };
    if ('not' in part) return { not: shaped(part.not) };
    if ('is' in part) {
      const { value } = part;
      return { ...part, value: slot(value instanceof Slot ? value : sqlValue(part.is, value)) };
    }
    if ('in' in part) return { ...part, in: slot(part.in) };
    if ('among' in part) return { ...part, among: slot(part.among) };
    if ('where' in part) return { ...part, where: shaped(part.where) };
    return part;
  };
  return { shape: shaped(predicate), values };
}
