import type { TableName } from './tables.ts';

/** An index that lists are read by. */
export interface ListIndex {
  /** Its columns between the workspace and the id. */
  readonly columns: readonly string[];
  /** Few rows have the same value in its first column, but many rows may match a list of values. */
  readonly isSelective?: true;
  /** No two rows have the same value in its first column. */
  readonly isUnique?: true;
  /** It contains deleted rows, too, which lists leave out. */
  readonly hasDeleted?: true;
}

/** A table with a copy of a text column and a trigram index on it. Its column `key` has the id of the copied row. */
interface TextTable {
  readonly column: string;
  readonly table: TableName;
  readonly key: string;
}

/** The columns of a join table's index: first that of the referenced row, then that of the row of the list. */
interface JoinIndex {
  readonly child: string;
  readonly parent: string;
}

/**
 * The indexes of tables that may become large. They determine how many rows a page has to read. A table that is not
 * among them is read without a bound. `test/db/list-indexes.test.ts` compares them with the indexes of the database.
 */
export const listIndexes: Partial<Record<TableName, readonly ListIndex[]>> = {
  issue: [
    { columns: ['createdUtc'] },
    { columns: ['updatedUtc'] },
    { columns: ['number'], isSelective: true },
    { columns: ['priorityRank'] },
    { columns: ['dueDate'] },
    { columns: ['titleFold'] },
    { columns: ['statusRank'] },
    { columns: ['lastActivityUtc'] },
    { columns: ['startedUtc'] },
    { columns: ['closedUtc'] },
    { columns: ['estimateValue'] },
    { columns: ['lastCommentUtc'] },
    { columns: ['teamId', 'createdUtc'] },
    { columns: ['teamId', 'updatedUtc'] },
    { columns: ['teamId', 'number'], hasDeleted: true },
    { columns: ['teamId', 'priorityRank'] },
    { columns: ['teamId', 'statusRank'] },
    { columns: ['statusId', 'createdUtc'] },
    { columns: ['reporterUserAccountId', 'createdUtc'] },
    { columns: ['projectId', 'createdUtc'] },
    { columns: ['deliveryId', 'createdUtc'] },
    { columns: ['primaryAssigneeUserAccountId', 'createdUtc'] },
    { columns: ['parentIssueId', 'createdUtc'] },
    { columns: ['id'], isUnique: true },
  ],
  comment: [
    { columns: ['issueId', 'createdUtc'] },
    { columns: ['parentCommentId', 'createdUtc'] },
    { columns: ['authorUserAccountId', 'createdUtc'], hasDeleted: true },
    { columns: ['id'], isUnique: true },
  ],
  activity: [{ columns: ['issueId', 'sortOrder'] }],
  issueLink: [{ columns: ['issueId', 'createdUtc'] }],
  attachment: [{ columns: ['issueId', 'uploadedUtc'] }],
  agentThreadMessage: [{ columns: ['threadId', 'sortOrder'] }],
  accessToken: [{ columns: ['createdUtc'] }, { columns: ['userAccountId', 'createdUtc'] }],
  webhookDelivery: [{ columns: ['webhookId', 'createdUtc'] }],
  auditEntry: [
    { columns: ['occurredUtc'] },
    { columns: ['act', 'occurredUtc'] },
    { columns: ['userAccountId', 'occurredUtc'] },
    { columns: ['subjectId', 'occurredUtc'] },
  ],
};

/** The indexes of join tables by which the rows of a list are found. */
export const joinIndexes: Partial<Record<TableName, JoinIndex>> = {
  issueLabel: { child: 'labelId', parent: 'issueId' },
  issueAssignee: { child: 'userAccountId', parent: 'issueId' },
};

/** The tables in which `contains` looks up rows of a list. */
export const textTables: Partial<Record<TableName, TextTable>> = {
  issue: { column: 'titleFold', table: 'issueText', key: 'issueId' },
};

/**
 * The columns by which rows belong to one issue, comment or thread. Lists of such rows are short, so they are counted
 * without a bound.
 */
export const shortListColumns: ReadonlySet<string> = new Set([
  'issueId',
  'parentIssueId',
  'parentCommentId',
  'threadId',
]);
