import type { Selectable } from 'kysely';
import type { IssueTable } from './issue-table.ts';
import { limits } from './limits.ts';

/** What null means for a field in an input: it is refused, or the field takes this value. */
type Cleared<Value> = { readonly refused: true } | { readonly to: Value };

interface Changed<Value> {
  readonly cleared: Cleared<Value>;
  /** What an activity entry calls the field: "changed the due date to 2026-01-31". */
  readonly activity: string;
}

interface Declared<Value> extends Changed<Value> {
  /** What the field holds, as the schema and REST describe it. */
  readonly description: string;
  /** The schema's own description of the field of the type, and of the field of the inputs. */
  readonly output?: string;
  readonly input?: string;
}

/** A text. With `folded`, that column stores the text as lists are sorted and searched by. */
interface TextField<Value, Column> extends Declared<Value> {
  readonly kind: 'text';
  readonly min: 0 | 1;
  readonly max: number;
  readonly trimmed: boolean;
  readonly folded?: Column;
}

/** A whole number of 32 bits. */
interface IntegerField<Value> extends Declared<Value> {
  readonly kind: 'integer';
  readonly min: number;
}

/** A code of one of the code tables. */
interface CodeField<Value> extends Declared<Value> {
  readonly kind: 'code';
  readonly table: 'priority';
}

/** A calendar date, `YYYY-MM-DD`. */
interface DateField<Value> extends Declared<Value> {
  readonly kind: 'date';
  /** The name of the order by it. */
  readonly order: string;
}

/** The id of another row. With `ranked`, that column stores a copy of the row's rank. */
interface ReferenceField<Value, Column> extends Declared<Value> {
  readonly kind: 'reference';
  /** The prefix of the public id. */
  readonly of: 'status' | 'project' | 'delivery';
  readonly ranked?: Column;
}

/** The kinds of field that a column of this type can hold. */
export type StoredField<Value, Column> =
  | (NonNullable<Value> extends number ? IntegerField<Value> | CodeField<Value> : never)
  | (NonNullable<Value> extends string
      ? TextField<Value, Column> | DateField<Value> | ReferenceField<Value, Column>
      : never);

/** A field that has a writer of its own, because it needs rows of other tables or other issues. */
type RelatedField =
  | (Changed<null> & { readonly kind: 'person' | 'parent' })
  | (Changed<readonly []> & { readonly kind: 'ids'; readonly of: 'user' | 'label'; readonly max: number })
  | (Changed<readonly []> & { readonly kind: 'roles'; readonly max: number });

type Row = Selectable<IssueTable>;

/** The fields of an issue that clients set, in the order in which an activity entry names them. */
export const issueFields = {
  title: {
    kind: 'text',
    min: 1,
    max: limits.title,
    trimmed: true,
    folded: 'titleFold',
    cleared: { refused: true },
    activity: 'the title',
    description: 'What it is about.',
    output: `What it is about, 1 to ${limits.title} characters.`,
  },
  description: {
    kind: 'text',
    min: 0,
    max: limits.description,
    trimmed: false,
    cleared: { to: '' },
    activity: 'the description',
    description: 'The whole of it, as plain text.',
    output: 'The whole of it, as plain text; empty when nothing is said.',
    input: `The whole of it as plain text, up to ${limits.description.toLocaleString('en')} characters.`,
  },
  statusId: {
    kind: 'reference',
    of: 'status',
    ranked: 'statusRank',
    cleared: { refused: true },
    activity: 'the status',
    description: 'The status that it is in.',
  },
  priority: {
    kind: 'code',
    table: 'priority',
    cleared: { to: 0 },
    activity: 'the priority',
    description: 'How urgent it is.',
    input: 'How urgent it is; NONE when there is nothing to say.',
  },
  primaryAssigneeUserAccountId: {
    kind: 'person',
    cleared: { to: null },
    activity: 'the assignee',
  },
  assigneeUserAccountIds: {
    kind: 'ids',
    of: 'user',
    max: limits.people,
    cleared: { to: [] },
    activity: 'the assignees',
  },
  projectId: {
    kind: 'reference',
    of: 'project',
    cleared: { to: null },
    activity: 'the project',
    description: 'The project that it belongs to.',
  },
  deliveryId: {
    kind: 'reference',
    of: 'delivery',
    cleared: { to: null },
    activity: 'the delivery',
    description: 'The delivery that it is planned for.',
    input: 'The delivery of its team that it is planned for.',
  },
  estimateValue: {
    kind: 'integer',
    min: 0,
    cleared: { to: null },
    activity: 'the estimate',
    description: 'How much work it is, in the points of the team.',
  },
  dueDate: {
    kind: 'date',
    order: 'DUE_DATE',
    cleared: { to: null },
    activity: 'the due date',
    description: 'The day by which it is to be done.',
  },
  labelIds: {
    kind: 'ids',
    of: 'label',
    max: limits.labels,
    cleared: { to: [] },
    activity: 'the labels',
  },
  parentIssueId: {
    kind: 'parent',
    cleared: { to: null },
    activity: 'the parent issue',
  },
  roleAssignments: {
    kind: 'roles',
    max: limits.people,
    cleared: { to: [] },
    activity: 'the role assignments',
  },
} as const satisfies Readonly<
  { [Column in keyof Row]?: StoredField<Row[Column], keyof Row> | RelatedField } & {
    roleAssignments: RelatedField;
  }
>;

type Fields = typeof issueFields;
export type IssueField = keyof Fields;
export type Kind = Fields[IssueField]['kind'];
export type StoredKind = 'text' | 'integer' | 'code' | 'date' | 'reference';
/** The kinds whose values mean the same in every workspace, so that a file can carry them as they are. */
export type PlainKind = Exclude<StoredKind, 'reference'>;
/** The names of the fields of a kind. */
export type FieldOf<K extends Kind> = {
  [Name in IssueField]: Fields[Name]['kind'] extends K ? Name : never;
}[IssueField];
/** A field that is stored in the column of its name and needs nothing else to be written. */
export type StoredFieldName = FieldOf<StoredKind>;

type Makers<K extends Kind, Result> = {
  readonly [Each in K]: (name: FieldOf<Each>, field: Fields[FieldOf<Each>]) => Result;
};

/** What a layer makes of each field of some kinds. A kind without a maker does not compile. */
export function fieldsAs<K extends Kind, Result>(makers: Makers<K, Result>): Record<FieldOf<K>, Result> {
  const made = Object.entries(issueFields).flatMap(([name, field]) => {
    // The compiler cannot see that the maker of a field's kind takes the field's name.
    const maker = (makers as Partial<Record<Kind, (name: string, field: object) => Result>>)[field.kind];
    return maker ? [[name, maker(name, field)] as const] : [];
  });
  return Object.fromEntries(made) as Record<FieldOf<K>, Result>;
}

/** The type of a column, and where its value comes from when an issue is inserted. */
interface ColumnRole {
  readonly type: 'uuid' | 'text' | 'int' | 'timestamptz' | 'uuid[]';
  /**
   * `given`: a value comes with each new issue. `counter`: from the statement that counts the team's numbers.
   * `default`: the column's default. `tenant`: the workspace of the database handle. `generated`: PostgreSQL computes it.
   */
  readonly insert: 'given' | 'counter' | 'default' | 'tenant' | 'generated';
  /** False for a column that no statement for whole issues reads. */
  readonly read?: false;
}

/** The columns that no field stores its value in. */
export type OtherIssueColumns<Table extends IssueTable = IssueTable> = {
  readonly [Column in Exclude<keyof Table, StoredFieldName>]: ColumnRole;
};

/** Every other column of an issue. A column of the table that is declared neither here nor as a field does not compile. */
export const otherIssueColumns = {
  workspaceId: { type: 'uuid', insert: 'tenant' },
  id: { type: 'uuid', insert: 'given' },
  teamId: { type: 'uuid', insert: 'counter' },
  number: { type: 'int', insert: 'counter' },
  titleFold: { type: 'text', insert: 'given' },
  reporterUserAccountId: { type: 'uuid', insert: 'given' },
  parentIssueId: { type: 'uuid', insert: 'given' },
  deletedParentIssueId: { type: 'uuid', insert: 'default' },
  statusRank: { type: 'int', insert: 'given' },
  priorityRank: { type: 'int', insert: 'generated' },
  primaryAssigneeUserAccountId: { type: 'uuid', insert: 'given' },
  commentCount: { type: 'int', insert: 'default' },
  subIssueCount: { type: 'int', insert: 'default' },
  linkCount: { type: 'int', insert: 'default' },
  activityCount: { type: 'int', insert: 'default' },
  createdUtc: { type: 'timestamptz', insert: 'counter' },
  updatedUtc: { type: 'timestamptz', insert: 'counter' },
  lastActivityUtc: { type: 'timestamptz', insert: 'default' },
  lastCommentUtc: { type: 'timestamptz', insert: 'default' },
  closedUtc: { type: 'timestamptz', insert: 'default' },
  deletedUtc: { type: 'timestamptz', insert: 'default' },
  revision: { type: 'int', insert: 'default' },
  // Triggers would write these two after the insert, which would change the row once more.
  labelIds: { type: 'uuid[]', insert: 'given', read: false },
  assigneeUserAccountIds: { type: 'uuid[]', insert: 'given', read: false },
} as const satisfies OtherIssueColumns;
