import type { Row } from '../../db/tables/tables.ts';
import { fold } from '../../model/fold.ts';
import { wordOfCode } from './code-words.ts';
import { codesOfColumn, storedFields } from './directory-file.ts';

type StoredTable = keyof typeof storedFields;

/** What an entry of a file has of the fields that are stored as they are. */
type StoredEntry<Table extends StoredTable> = {
  readonly [Column in keyof Row<Table> & keyof (typeof storedFields)[Table]]?: Row<Table>[Column] | undefined;
};

/** The columns that an entry sets, with the folded copy of its name. Columns that it does not mention are undefined. */
export function storedColumns<Table extends StoredTable>(
  table: Table,
  entry: StoredEntry<Table>,
): Partial<Row<Table>> {
  const values = entry as Record<string, unknown>;
  const columns = Object.keys(storedFields[table]).map((column) => [column, values[column]]);
  const { name } = values;
  // The names of the columns are those of the fields, which the compiler has compared with the row.
  return {
    ...Object.fromEntries(columns),
    ...(typeof name === 'string' && { nameFold: fold(name) }),
  } as Partial<Row<Table>>;
}

/** The fields of a row that are stored as they are, in the form that files have. */
export function storedFieldsOf<Table extends StoredTable>(
  table: Table,
  row: Row<Table>,
): Record<string, unknown> {
  const values = row as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(storedFields[table]).map((column) => [column, valueInFile(table, column, values[column])]),
  );
}

function valueInFile(table: string, column: string, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  const codes = codesOfColumn(table, column);
  return codes && typeof value === 'number' ? wordOfCode(codes, value) : value;
}
