import type { Row } from '../../db/tables/tables.ts';
import { fold } from '../../model/fold.ts';
import { type FieldColumn, derivedColumns } from '../../model/issue-columns.ts';
import { issueFields, type StoredFieldName } from '../../model/issue-fields.ts';
import type { RequiredField, StoredValues } from '../../model/issue-values.ts';

type Value = string | number | null;

const storedFields = Object.entries(derivedColumns).map(
  ([name, columns]) => [name as StoredFieldName, columns] as const,
);

/** The value that a field stores while it is empty. A field that always has a value is not among them. */
const emptyValues: Readonly<Partial<Record<StoredFieldName, Value>>> = Object.fromEntries(
  storedFields.flatMap(([name]) => {
    const { cleared } = issueFields[name];
    return 'to' in cleared ? [[name, cleared.to]] : [];
  }),
);

/**
 * The columns that the values of fields set, with those that follow from them. A field that is undefined sets nothing.
 * `statusRank` is the rank of the status, if the values contain a status.
 */
export function changedColumns(
  values: Readonly<Partial<StoredValues>>,
  statusRank: number | undefined,
): Partial<Pick<Row<'issue'>, FieldColumn>> {
  return columnsFor(values, {}, statusRank);
}

/** The columns of a new issue. A field that is undefined stores its empty value. */
export function newColumns(
  values: Readonly<Partial<StoredValues> & Pick<StoredValues, RequiredField>>,
  statusRank: number,
): Pick<Row<'issue'>, FieldColumn> {
  // Every field has a value or an empty value, and so has each column that follows from a field.
  return columnsFor(values, emptyValues, statusRank) as Pick<Row<'issue'>, FieldColumn>;
}

function columnsFor(
  values: Readonly<Partial<StoredValues>>,
  defaults: typeof emptyValues,
  statusRank: number | undefined,
): Partial<Pick<Row<'issue'>, FieldColumn>> {
  const columns: Partial<Record<FieldColumn, Value>> = {};
  for (const [name, { folded, ranked }] of storedFields) {
    const value = values[name] === undefined ? defaults[name] : values[name];
    if (value === undefined) continue;
    columns[name] = value;
    if (folded) columns[folded] = value === null ? null : fold(String(value));
    if (ranked) columns[ranked] = statusRank;
  }
  // The types of the values are those of their columns: the declaration is checked against the table.
  return columns as Partial<Pick<Row<'issue'>, FieldColumn>>;
}
