import {
  mapFieldsByKind,
  type issueFields,
  type OtherIssueColumns,
  otherIssueColumns,
  type StoredFieldName,
  type StoredKind,
} from './issue-fields.ts';

type Others = typeof otherIssueColumns;
type OtherColumn = keyof Others;
/** The columns whose declaration matches `Part`. */
type ColumnWith<Part> = {
  [Column in OtherColumn]: Others[Column] extends Part ? Column : never;
}[OtherColumn];

/** A column that is derived from a stored field: the folded text, the rank of the status. */
type FieldDerivedColumn = {
  [Name in StoredFieldName]: (typeof issueFields)[Name] extends
    | { readonly folded: infer Column }
    | { readonly ranked: infer Column }
    ? Column & OtherColumn
    : never;
}[StoredFieldName];

/** The column of a stored field, or a column that is derived from one. */
export type FieldColumn = StoredFieldName | FieldDerivedColumn;
/** A column whose value the insert of an issue provides. */
export type InsertedColumn = StoredFieldName | ColumnWith<{ insert: 'input' }>;
/** A column that a new issue gets from the counter of its team. */
export type CounterColumn = ColumnWith<{ insert: 'counter' }>;
/** A column that only the import of an issue with its history sets; other new issues get the default. */
export type HistoryColumn = ColumnWith<{ insert: 'default' }> | 'createdUtc' | 'updatedUtc';
export type IssueColumn = StoredFieldName | Exclude<OtherColumn, ColumnWith<{ read: false }>>;
/** A column that an update can set. */
export type SettableColumn =
  | Exclude<IssueColumn, 'id' | 'teamId' | 'number' | ColumnWith<{ insert: 'tenant' | 'generated' }>>
  | 'labelIds';

const storedTypes = mapFieldsByKind<StoredKind, string>({
  text: () => 'text',
  integer: () => 'int',
  code: () => 'smallint',
  date: () => 'date',
  reference: () => 'uuid',
});

/** The columns that are derived from each stored field: the folded text of a text, the copied rank of a reference. */
export const derivedColumns = mapFieldsByKind<
  StoredKind,
  { folded?: FieldDerivedColumn; ranked?: FieldDerivedColumn }
>({
  text: (_name, field) => ('folded' in field ? { folded: field.folded } : {}),
  integer: () => ({}),
  code: () => ({}),
  date: () => ({}),
  reference: (_name, field) => ('ranked' in field ? { ranked: field.ranked } : {}),
});

const others = Object.entries<OtherIssueColumns[OtherColumn]>(otherIssueColumns);
const otherTypes = Object.fromEntries(others.map(([column, { type }]) => [column, type]));

/** The SQL type of each column. */
export const columnTypes = { ...storedTypes, ...otherTypes } as Readonly<
  Record<StoredFieldName | OtherColumn, string>
>;

const insertedAs = (role: string) =>
  others.flatMap(([column, { insert }]) => (insert === role ? [column as OtherColumn] : []));

/** The columns whose values the insert of an issue provides. */
export const insertedColumns = [
  ...Object.keys(storedTypes),
  ...insertedAs('input'),
] as readonly InsertedColumn[];

/** The further columns that the import of an issue with its history sets. */
export const historyColumns = [
  ...insertedAs('default'),
  'createdUtc',
  'updatedUtc',
] as readonly HistoryColumn[];

/** The columns that a statement for whole issues returns, in this order. */
export const issueColumns = [
  ...Object.keys(storedTypes),
  ...others.flatMap(([column, { read }]) => (read === false ? [] : [column])),
] as readonly IssueColumn[];

/**
 * The name of a column in the JSON parameter of a statement. It is in lower case because kysely rewrites the names in a
 * statement to snake case, but not the keys in the JSON.
 */
export function jsonName(column: string): string {
  return column.toLowerCase();
}
