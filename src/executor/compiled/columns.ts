import { decodeText } from '../../db/wire/decoded-types.ts';
import { cachedDeclaration } from '../../db/tables/cached-tables.ts';
import type { DerivedColumn, ReadColumn } from '../../db/query/page.ts';
import type { TableName } from '../../db/tables/tables.ts';
import type { PreloadableTable, WithPreloaded } from '../../db/writes/preloaded.ts';
import { type TextRow, textAt } from '../../db/wire/wire-row.ts';
import { type Frame, NotCompilable, type Row } from './frame.ts';

/** Reads a column of a row as a text. */
export type Read = (row: Row) => string | null;

/** How a statement derives a column; the description identifies the derivation. */
export type Derivation = Pick<DerivedColumn, 'description' | 'sql'>;

/** A column of UUIDs that refer to other rows. It has no place in rows that a resolver returned. */
export interface KeyColumn {
  readonly text: Read;
  readonly place: number | undefined;
}

/**
 * The columns that an operation reads of one set of rows, collected while it is compiled. The statement that reads the
 * rows selects them in this order.
 */
export class Columns {
  /** Whether a resolver returned the rows: they are objects with all columns as JavaScript values. */
  readonly given: boolean;
  readonly read: ReadColumn[] = [];
  /** Whether the rows are cached in memory, with all columns and unchanging. */
  readonly isCached: boolean = false;

  /** `{ of }` stands for rows of a table, which are either cached or read by a statement. */
  constructor(origin: { of: TableName } | 'fetched' | 'given') {
    this.given = origin === 'given';
    const cached = typeof origin === 'object' ? cachedDeclaration(origin.of) : undefined;
    if (!cached) return;
    this.read.push(...cached.columns);
    this.isCached = true;
  }

  /** The index of the column in each row. */
  place(name: string): number {
    const known = this.read.indexOf(name);
    if (known >= 0) return known;
    if (this.isCached) throw new NotCompilable(`${name} is not cached.`);
    return this.read.push(name) - 1;
  }

  /**
   * What is attached to each row about its neighbours in another table: on rows that a statement reads, what the
   * statement derives; on rows that a resolver returned, the preloaded value, or null if nothing was preloaded.
   * Undefined where nothing can be attached.
   */
  attached(table: TableName, derive: Derivation | undefined): KeyColumn | undefined {
    if (this.given)
      return {
        text: (row) => (row as WithPreloaded).preloaded?.[table as PreloadableTable] ?? null,
        place: undefined,
      };
    if (this.isCached || !derive) return undefined;
    const place = this.read.length;
    this.read.push({ ...derive, name: `derived${place}` });
    return { text: (row) => textAt(row as TextRow, place), place };
  }

  /** Reads the column as a text; keys and ids are texts in both kinds of rows. */
  reader(name: string): Read {
    if (this.given) return (row) => textOf((row as Readonly<Record<string, unknown>>)[name]);
    const place = this.place(name);
    return (row) => textAt(row as TextRow, place);
  }

  key(name: string): KeyColumn {
    return { text: this.reader(name), place: this.given ? undefined : this.place(name) };
  }

  /** Reads the column as the JavaScript value that resolvers and computed fields get. */
  decoder(name: string): (frame: Frame, row: number) => unknown {
    if (this.given) return (frame, row) => (frame.rows[row] as Readonly<Record<string, unknown>>)[name];
    const place = this.place(name);
    return ({ rows, types }, row) => decodeText(types[place] ?? 0, textAt(rows[row] as TextRow, place));
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
