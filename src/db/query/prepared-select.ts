import { LRUCache } from 'lru-cache';
import { type Compilable, CompiledQuery } from 'kysely';
import type { BorrowedConnection } from '../engine/borrowed-connection.ts';
import type { StatementTarget } from '../engine/statement-target.ts';
import { anyWorkspace, workspaceOf } from '../engine/tenant-handle.ts';
import { Prepared, type Values } from '../statements/prepared.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { decoderOf } from '../wire/decoded-types.ts';

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
  async send({ connect, db }: StatementTarget, values: Values): Promise<Row[]> {
    const bound = { ...values, workspaceId: workspaceOf(db) };
    if (connect) return this.run(connect, bound);
    const { text } = this.#statement;
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, this.#statement.bind(bound)));
    return rows;
  }

  /** Runs the statement on a connection of its own, and releases it afterwards. */
  async run(connect: () => Promise<BorrowedConnection>, values: Values): Promise<Row[]> {
    const connection = await connect();
    try {
      const { rows, types } = await connection.texts(this.#statement, values);
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
      connection.release();
    }
  }
}

/**
 * The maximum number of compiled forms of one statement. There is a form for each set of fields that a request may change, and
 * each statement has thousands of characters.
 */
const maxForms = 200;

/**
 * Statements by the form of their arguments. They are compiled when they are first needed; the least recently used ones
 * are dropped.
 */
export class StatementsByForm<Form, Row> {
  readonly #make: (db: TenantDb, form: Form) => PreparedSelect<Row>;
  readonly #made = new LRUCache<string, PreparedSelect<Row>>({ max: maxForms });

  constructor(make: (db: TenantDb, form: Form) => PreparedSelect<Row>) {
    this.#make = make;
  }

  send(target: StatementTarget, form: Form, values: Values): Promise<Row[]> {
    const key = JSON.stringify(form);
    let statement = this.#made.get(key);
    if (!statement) {
      statement = this.#make(anyWorkspace, form);
      this.#made.set(key, statement);
    }
    return statement.send(target, values);
  }
}
