import { stringify } from 'csv-stringify/sync';

/** Rows whose values have the same names. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The table as RFC 4180 has it, with a line of names. A spreadsheet would run a text that begins like a formula, so an
 * apostrophe comes before it.
 */
export function csvOf({ columns, rows }: Table): string {
  return stringify([...rows], {
    columns: [...columns],
    header: true,
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
    escape_formulas: true,
  });
}
