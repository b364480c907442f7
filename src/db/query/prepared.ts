import { createHash } from 'node:crypto';
import { type Compilable, CompiledQuery } from 'kysely';
import { type CellFormats, cellFormats } from '../wire/cell-formats.ts';
import { decodeText } from '../wire/decoded-types.ts';
import type { Lease } from '../engine/lease.ts';
import { type Predicate, sqlValue } from './predicate.ts';
import { writesReference } from '../writes/reference-writes.ts';
import { anyWorkspace, workspaceOf } from '../engine/tenant-handle.ts';
import { Slot } from './slots.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** What one run of a statement puts into its slots, by their names. */
export type Values = Readonly<Record<string, unknown>>;

/** What a statement takes that does not make others wait. */
const quickMs = 10;

/** A statement that was compiled once: its text, the name that a connection keeps it under, and where values go. */
export class Prepared {
  readonly text: string;
  readonly name: string;
  /** The types of its columns as OIDs, once it has been answered. */
  types: readonly number[] | undefined;
  /** How its cells are asked for then. */
  formats: CellFormats | undefined;
  /** How long its rows were the last time, all together. */
  bytes = 0;
  /** Does it change what processes keep in memory. */
  readonly writesReference: boolean;
  readonly #parameters: readonly unknown[];
  /** An average of its runs, the last ones before all. */
  #usualMs = Number.POSITIVE_INFINITY;

  constructor(query: Compilable<unknown> | CompiledQuery) {
    const { sql, parameters } = 'compile' in query ? query.compile() : query;
    this.text = sql;
    this.name = createHash('sha1').update(sql).digest('base64url');
    this.writesReference = writesReference(sql);
    this.#parameters = parameters;
  }

  /** Has it been answered in little time so far, so that others can wait for it. */
  get isQuick(): boolean {
    return this.#usualMs < quickMs;
  }

  /** How long a run had the connection, whether it was answered or failed. */
  took(ms: number): void {
    this.#usualMs = Number.isFinite(this.#usualMs) ? this.#usualMs + (ms - this.#usualMs) / 4 : ms;
  }

  /** What a run told of the rows. */
  answered(types: readonly number[], bytes: number): void {
    this.bytes = bytes;
    if (this.types === types) return;
    this.types = types;
    this.formats = cellFormats(types);
  }

  /** The parameters of one run; a slot that got no value is a bug. */
  bind(values: Values): unknown[] {
    return this.#parameters.map((parameter) => {
      if (!(parameter instanceof Slot)) return parameter;
      if (!(parameter.name in values)) throw new Error(`Nothing was given for ${parameter.name}.`);
      return values[parameter.name];
    });
  }
}

/** A select that is compiled once, and whose rows come as the objects that Kysely would give. */
export class PreparedSelect<Row> {
  readonly #statement: Prepared;
  readonly #columns: readonly (keyof Row & string)[];

  /** `columns` are those that the query selects, in their order. */
  constructor(query: Compilable<Row>, columns: readonly (keyof Row & string)[]) {
    this.#statement = new Prepared(query);
    this.#columns = columns;
  }

  /**
   * Runs for the workspace of the handle: on a connection of its own, which is given back, or in the transaction that
   * everything has to go through.
   */
  async send({ connect, db }: Sending, values: Values): Promise<Row[]> {
    const bound = { ...values, workspaceId: workspaceOf(db) };
    if (connect) return this.run(connect, bound);
    const { text } = this.#statement;
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, this.#statement.bind(bound)));
    return rows;
  }

  /** Runs on a connection of its own, which is given back. */
  async run(connect: () => Promise<Lease>, values: Values): Promise<Row[]> {
    const lease = await connect();
    try {
      const { rows, types } = await lease.texts(this.#statement, values);
      return rows.map((texts) => {
        const row: Record<string, unknown> = {};
        this.#columns.forEach((column, place) => {
          row[column] = decodeText(types[place] ?? 0, texts[place] ?? null);
        });
        // The columns are checked against the row when this is compiled.
        return row as Row;
      });
    } finally {
      lease.release();
    }
  }
}

/** Where a statement goes: `connect` is undefined inside a transaction, which `db` then is. */
export interface Sending {
  readonly db: TenantDb;
  readonly connect: (() => Promise<Lease>) | undefined;
}

/** Statements by the shape of what they are given, each compiled when it is first needed. */
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

/** Keys as PostgreSQL reads an array of uuids: their text needs no quotes, so this is far cheaper than pg's way. */
export function uuidArray(keys: Iterable<string>): string {
  return `{${[...keys].join(',')}}`;
}

/**
 * The predicate with a slot for every value, and those values by the names of the slots, as SQL compares them.
 * Predicates that differ in values alone become equal, so they share a statement.
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
