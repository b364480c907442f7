import {
  fieldsAs,
  type issueFields,
  otherIssueColumns,
  type StoredFieldName,
  type StoredKind,
} from './issue-fields.ts';

type Others = typeof otherIssueColumns;
type OtherColumn = keyof Others;
/** The columns whose declaration has this part. */
type Having<Part> = {
  [Column in OtherColumn]: Others[Column] extends Part ? Column : never;
}[OtherColumn];

/** A column that a field writes beside its own: the folded text, the rank of the status. */
type FollowingColumn = {
  [Name in StoredFieldName]: (typeof issueFields)[Name] extends
    | { readonly folded: infer Column }
    | { readonly ranked: infer Column }
    ? Column & OtherColumn
    : never;
}[StoredFieldName];

/** A column that a change can set by itself. */
export type ChangeableColumn = StoredFieldName | FollowingColumn;
/** A column whose value comes with each new issue. */
export type InsertedColumn =
  | StoredFieldName
  | Exclude<OtherColumn, Having<{ insert: 'tenant' | 'counter' | 'default' }>>;
/** A column that the counter of the team gives to a new issue. */
export type CounterColumn = Having<{ insert: 'counter' }>;
export type IssueColumn = StoredFieldName | Exclude<OtherColumn, Having<{ read: false }>>;

const storedTypes = fieldsAs<StoredKind, string>({
  text: () => 'text',
  integer: () => 'int',
  code: () => 'smallint',
  date: () => 'date',
  reference: () => 'uuid',
});

/** The columns that follow from a field: the folded text of a text, the copied rank of a reference. */
export const following = fieldsAs<StoredKind, { folded?: FollowingColumn; ranked?: FollowingColumn }>({
  text: (_name, field) => ('folded' in field ? { folded: field.folded } : {}),
  integer: () => ({}),
  code: () => ({}),
  date: () => ({}),
  reference: (_name, field) => ('ranked' in field ? { ranked: field.ranked } : {}),
});

const others = Object.entries<{ readonly insert: string; readonly read?: false }>(otherIssueColumns);
const otherTypes = Object.fromEntries(others.map(([column, { insert }]) => [column, insert]));
const types: Readonly<Record<string, string>> = { ...storedTypes, ...otherTypes };

/** The columns that a change can set, with their types. */
export const changeable = Object.fromEntries(
  Object.entries(following).flatMap(([name, { folded, ranked }]) =>
    [name, folded ?? [], ranked ?? []].flat().map((column) => [column, types[column]]),
  ),
) as Readonly<Record<ChangeableColumn, string>>;

/** The columns whose values come with each new issue, with their types. */
export const inserted = Object.fromEntries(
  Object.entries(types).filter(([, type]) => !['tenant', 'counter', 'default'].includes(type)),
) as Readonly<Record<InsertedColumn, string>>;

/** The columns that a statement for whole issues reads, in the order in which it gives them. */
export const issueColumns = [
  ...Object.keys(storedTypes),
  ...others.flatMap(([column, { read }]) => (read === false ? [] : [column])),
] as readonly IssueColumn[];

/**
 * The name of a column in the JSON that a statement takes: in lower case, because a statement's own names are
 * rewritten in snake case and the keys of JSON are not.
 */
export function jsonName(column: string): string {
  return column.toLowerCase();
}
