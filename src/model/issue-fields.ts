import type { Selectable } from 'kysely';
import { maxInt32 } from './int32.ts';
import type { IssueTable } from './issue-table.ts';
import { limits } from './limits.ts';

/** What null means in the input of a field: it is refused, or it stores this value. */
type ClearRule<Value> = { readonly refused: true } | { readonly to: Value };

interface ChangeDeclaration<Value> {
  readonly cleared: ClearRule<Value>;
  /** The name of the field in an activity entry: "changed the due date to 2026-01-31". */
  readonly activity: string;
}

interface FieldDeclaration<Value> extends ChangeDeclaration<Value> {
  /** The description of the field in the schema and in REST. */
  readonly description: string;
  /** Other descriptions for the schema only: of the field of the type, and of the field of the inputs. */
  readonly output?: string;
  readonly input?: string;
}

/** A text. The column `folded` stores its folded form, which lists sort and search by. */
interface TextField<Value, Column> extends FieldDeclaration<Value> {
  readonly kind: 'text';
  readonly min: 0 | 1;
  readonly max: number;
  readonly trimmed: boolean;
  readonly folded?: Column;
}

/** A whole number. */
interface IntegerField<Value> extends FieldDeclaration<Value> {
  readonly kind: 'integer';
  readonly min: number;
  /** At most `maxInt32`. */
  readonly max: number;
  /** The name of the order by this field, if there is one. */
  readonly order?: string;
}

/** A code of one of the code tables. */
interface CodeField<Value> extends FieldDeclaration<Value> {
  readonly kind: 'code';
  readonly table: 'priority';
}

/** A calendar date, `YYYY-MM-DD`. */
interface DateField<Value> extends FieldDeclaration<Value> {
  readonly kind: 'date';
  /** The name of the order by this field. */
  readonly order: string;
}

/** The id of another row. The column `ranked` stores a copy of that row's rank. */
interface ReferenceField<Value, Column> extends FieldDeclaration<Value> {
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

/** A field with separate code for writes, because it involves rows of other tables or other issues. */
type RelatedField =
  | (ChangeDeclaration<null> & { readonly kind: 'person' | 'parent' })
  | (ChangeDeclaration<readonly []> & {
      readonly kind: 'ids';
      readonly of: 'user' | 'label';
      readonly max: number;
    })
  | (ChangeDeclaration<readonly []> & { readonly kind: 'roles'; readonly max: number });

type Row = Selectable<IssueTable>;

/** The fields of an issue that clients can set, in the order in which an activity entry names them. */
export const issueFields = {
  title: {
    kind: 'text',
    min: 1,
    max: limits.title,
    trimmed: true,
    folded: 'titleFold',
    cleared: { refused: true },
    activity: 'the title',
    description: 'The title.',
    output: `The title, 1 to ${limits.title} characters.`,
  },
  description: {
    kind: 'text',
    min: 0,
    max: limits.description,
    trimmed: false,
    cleared: { to: '' },
    activity: 'the description',
    description: 'The description as plain text.',
    output: 'The description as plain text; may be empty.',
    input: `The description as plain text, up to ${limits.description.toLocaleString('en')} characters.`,
  },
  statusId: {
    kind: 'reference',
    of: 'status',
    ranked: 'statusRank',
    cleared: { refused: true },
    activity: 'the status',
    description: 'The status of the issue.',
  },
  priority: {
    kind: 'code',
    table: 'priority',
    cleared: { to: 0 },
    activity: 'the priority',
    description: 'The priority.',
    input: 'The priority; NONE for an issue without one.',
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
    description: 'The project that the issue belongs to.',
  },
  deliveryId: {
    kind: 'reference',
    of: 'delivery',
    cleared: { to: null },
    activity: 'the delivery',
    description: 'The delivery that the issue is planned for.',
    input: 'The delivery that the issue is planned for; it must be one of its team.',
  },
  estimateValue: {
    kind: 'integer',
    min: 0,
    max: maxInt32,
    cleared: { to: null },
    activity: 'the estimate',
    description: "The estimated amount of work, in the team's points.",
  },
  dueDate: {
    kind: 'date',
    order: 'DUE_DATE',
    cleared: { to: null },
    activity: 'the due date',
    description: 'The day by which the issue should be done.',
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
/** A field that is stored in the column of the same name and involves no other rows. */
export type StoredFieldName = FieldOf<StoredKind>;

type Makers<K extends Kind, Result> = {
  readonly [Each in K]: (name: FieldOf<Each>, field: Fields[FieldOf<Each>]) => Result;
};

/** Maps the fields of some kinds with one function for each kind. A kind without a function does not compile. */
export function mapFieldsByKind<K extends Kind, Result>(
  makers: Makers<K, Result>,
): Record<FieldOf<K>, Result> {
  const results = Object.entries(issueFields).flatMap(([name, field]) => {
    // The compiler cannot see that the function for a field's kind accepts that field's name.
    const maker = (makers as Partial<Record<Kind, (name: string, field: object) => Result>>)[field.kind];
    return maker ? [[name, maker(name, field)] as const] : [];
  });
  return Object.fromEntries(results) as Record<FieldOf<K>, Result>;
}

/** The SQL type of a column, and the source of its value when an issue is inserted. */
interface ColumnRole {
  readonly type: 'uuid' | 'text' | 'int' | 'timestamptz' | 'uuid[]';
  /**
   * `input`: the insert provides the value. `counter`: the statement that takes a number of the team provides it.
   * `default`: the column's default. `tenant`: the workspace of the database handle. `generated`: PostgreSQL computes
   * it.
   */
  readonly insert: 'input' | 'counter' | 'default' | 'tenant' | 'generated';
  /** False for a column that statements for whole issues do not return. */
  readonly read?: false;
}

/** The columns that are not stored fields. */
export type OtherIssueColumns<Table extends IssueTable = IssueTable> = {
  readonly [Column in Exclude<keyof Table, StoredFieldName>]: ColumnRole;
};

/**
 * All other columns of an issue. A column of the table that is declared neither here nor as a field is a compile error. One that
 * clients set is declared above, in `issueFields`.
 */
export const otherIssueColumns = {
  workspaceId: { type: 'uuid', insert: 'tenant' },
  id: { type: 'uuid', insert: 'input' },
  teamId: { type: 'uuid', insert: 'counter' },
  number: { type: 'int', insert: 'counter' },
  titleFold: { type: 'text', insert: 'input' },
  reporterUserAccountId: { type: 'uuid', insert: 'input' },
  parentIssueId: { type: 'uuid', insert: 'input' },
  deletedParentIssueId: { type: 'uuid', insert: 'default' },
  statusRank: { type: 'int', insert: 'input' },
  priorityRank: { type: 'int', insert: 'generated' },
  primaryAssigneeUserAccountId: { type: 'uuid', insert: 'input' },
  commentCount: { type: 'int', insert: 'default' },
  subIssueCount: { type: 'int', insert: 'default' },
  linkCount: { type: 'int', insert: 'default' },
  activityCount: { type: 'int', insert: 'default' },
  createdUtc: { type: 'timestamptz', insert: 'counter' },
  updatedUtc: { type: 'timestamptz', insert: 'counter' },
  lastActivityUtc: { type: 'timestamptz', insert: 'default' },
  lastCommentUtc: { type: 'timestamptz', insert: 'default' },
  startedUtc: { type: 'timestamptz', insert: 'default' },
  closedUtc: { type: 'timestamptz', insert: 'default' },
  deletedUtc: { type: 'timestamptz', insert: 'default' },
  revision: { type: 'int', insert: 'default' },
  stageCount: { type: 'int', insert: 'default', read: false },
  // Triggers maintain these two. The insert provides them so that the triggers need not update the new row again.
  labelIds: { type: 'uuid[]', insert: 'input', read: false },
  assigneeUserAccountIds: { type: 'uuid[]', insert: 'input', read: false },
} as const satisfies OtherIssueColumns;
