import { decodeText } from '../../../db/wire/decoded-types.ts';
import { cachedDeclaration } from '../../../db/tables/cached-tables.ts';
import type { DerivedColumn, ReadColumn } from '../../../db/query/query-base.ts';
import type { TableName } from '../../../db/tables/tables.ts';
import type { PreloadableTable, WithPreloaded } from '../../../db/writes/preloaded.ts';
import { type TextRow, textAt } from '../../../db/wire/wire-row.ts';
import { type Frame, NotCompilable, type Row } from '../run/frame.ts';

/** Reads a column of a row as a text. */
export type ReadText = (row: Row) => string | null;

/** How a statement derives a column. The description identifies it. */
export type Derivation = Pick<DerivedColumn, 'description' | 'sql'>;

/** A column of UUIDs that refer to other rows. */
export interface KeyColumn {
  readonly text: ReadText;
  /** The index of the column in each row; undefined for objects that a resolver returned. */
  readonly index: number | undefined;
}

/**
 * The columns that an operation reads of one set of rows, collected while it is compiled. The statement that reads the
 * rows selects them in this order.
 */
export class Columns {
  /** Whether a resolver returned the rows: they are objects with all columns as JavaScript values. */
  readonly isResolved: boolean;
  readonly selected: ReadColumn[] = [];
  /** Whether the rows are cached in memory: they have all columns, and never change. */
  readonly isCached: boolean = false;

  /** `origin` says where the rows come from: a table (`of`), whose rows are cached or read by a statement; any statement; or a resolver. */
  constructor(origin: { of: TableName } | 'fetched' | 'resolved') {
    this.isResolved = origin === 'resolved';
    const cached = typeof origin === 'object' ? cachedDeclaration(origin.of) : undefined;
    if (!cached) return;
    this.selected.push(...cached.columns);
    this.isCached = true;
  }

  /** The index of the column in each row. Adds it to the selected columns if it is not among them. */
  include(name: string): number {
    const known = this.selected.indexOf(name);
    if (known >= 0) return known;
    if (this.isCached) throw new NotCompilable(`${name} is not cached.`);
    return this.selected.push(name) - 1;
  }

  /**
   * A value that is attached to each row and comes from another table. Statements derive it; on rows that a resolver
   * returned, it is the preloaded value, or null if nothing was preloaded. Undefined if nothing can be attached.
   */
  attached(table: TableName, derive: Derivation | undefined): KeyColumn | undefined {
    if (this.isResolved)
      return {
        text: (row) => (row as WithPreloaded).preloaded?.[table as PreloadableTable] ?? null,
        index: undefined,
      };
    if (this.isCached || !derive) return undefined;
    const index = this.selected.length;
    this.selected.push({ ...derive, name: `derived${index}` });
    return { text: (row) => textAt(row as TextRow, index), index };
  }

  /** Reads the column as a text; keys and ids are texts in both kinds of rows. */
  reader(name: string): ReadText {
    if (this.isResolved) return (row) => textOf((row as Readonly<Record<string, unknown>>)[name]);
    const index = this.include(name);
    return (row) => textAt(row as TextRow, index);
  }

  key(name: string): KeyColumn {
    return { text: this.reader(name), index: this.isResolved ? undefined : this.include(name) };
  }

  /** Reads the column as the JavaScript value that resolvers and computed fields get. */
  decoder(name: string): (frame: Frame, row: number) => unknown {
    if (this.isResolved) return (frame, row) => (frame.rows[row] as Readonly<Record<string, unknown>>)[name];
    const index = this.include(name);
    return ({ rows, types }, row) => decodeText(types[index] ?? 0, textAt(rows[row] as TextRow, index));
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
