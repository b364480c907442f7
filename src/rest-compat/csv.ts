import { stringify } from 'csv-stringify/sync';

/** Rows whose values have the same names. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The table as CSV (RFC 4180) with a header line. A text that begins like a formula gets an apostrophe in front of it,
 * because a spreadsheet would evaluate it.
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
