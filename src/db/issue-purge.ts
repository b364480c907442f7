import { sql } from 'kysely';
import type { FileName } from './housekeeping.ts';
import { anyUuid } from './query/any-uuid.ts';
import type { Row, TableName } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';

// An issue may have hundreds of thousands of comments, and no statement of a server may take longer than those of
// requests. So its related rows are removed by many short transactions, and its own row by the last one. In between it
// lacks a part of its rows. It can be neither read nor restored, and `verify` leaves out issues that are old enough to
// be in this state.

/** The rows that a transaction has removed or changed, and whether nothing is left of the issues. */
export interface RemovalResult {
  readonly rows: number;
  readonly isDone: boolean;
}

/**
 * Removes about `limit` rows at most that belong to issues deleted before the time, and then the issues themselves when
 * nothing else is left. Their attachments must have been removed.
 */
export async function removeSomeOfIssues(
  trx: Trx,
  issueIds: readonly string[],
  before: Date,
  limit: number,
): Promise<RemovalResult> {
  const ids = await lockLongDeleted(trx, issueIds, before);
  if (ids.length === 0) return { rows: 0, isDone: true };
  await reduceImportRecords(trx, ids);
  let left = limit;
  for (const removeSome of removalSteps) {
    left -= await removeSome(trx, ids, left);
    if (left <= 0) return { rows: limit - left, isDone: false };
  }
  await trx.deleteFrom('issue').where('id', '=', anyUuid(ids)).execute();
  return { rows: limit - left + ids.length, isDone: true };
}

/**
 * Marks some attachments of the issues that were deleted before the time as abandoned, which are then removed like
 * those whose upload was never finished: the bytes first and the row afterwards. A row that is not uploaded names no
 * bytes, so none is ever missing, and if the process ends in between, the row is found again.
 */
export async function abandonSomeFiles(
  trx: Trx,
  issueIds: readonly string[],
  before: Date,
  limit: number,
): Promise<FileName[]> {
  const ids = await lockLongDeleted(trx, issueIds, before);
  if (ids.length === 0) return [];
  return trx
    .updateTable('attachment')
    .set({ uploadedUtc: null, deletedUtc: sql<Date>`coalesce(deleted_utc, now())` })
    .where('id', 'in', (eb) =>
      eb.selectFrom('attachment as a').select('a.id').where('a.issueId', '=', anyUuid(ids)).limit(limit),
    )
    .returning(['workspaceId', 'id', 'revision'])
    .execute();
}

async function lockLongDeleted(trx: Trx, issueIds: readonly string[], before: Date): Promise<string[]> {
  const locked = await trx
    .selectFrom('issue')
    .select('id')
    .where('id', '=', anyUuid(issueIds))
    .where('deletedUtc', '<', before)
    .orderBy('id')
    .forUpdate()
    .execute();
  return locked.map(({ id }) => id);
}

/**
 * Reduces the import records of issues to the note that they were purged, so that no import creates the issues or their
 * comments again.
 */
async function reduceImportRecords(trx: Trx, issueIds: readonly string[]): Promise<void> {
  await trx
    .updateTable('importSource')
    .set({ record: JSON.stringify({ purged: true }) })
    .where('kind', '=', 'issue')
    .where('targetId', '=', anyUuid(issueIds))
    .where(sql<boolean>`record -> 'purged' is null`)
    .execute();
}

/** Removes or changes at most `limit` rows of one kind that belong to the issues. Returns their number. */
type RemoveSome = (trx: Trx, issueIds: readonly string[], limit: number) => Promise<number>;

/** In the order in which rows can be removed: they refer only to rows that later steps remove. */
const removalSteps: readonly RemoveSome[] = [
  removeSomeMessages,
  allOf('agentThread'),
  removeSomeStages,
  allOf('issueText'),
  someOf('activity'),
  someOf('issueLink'),
  removeSomeComments,
  allOf('issueRoleAssignment'),
  allOf('issueSubscription'),
  allOf('issueLabel'),
  allOf('issueAssignee'),
  clearParent('deletedParentIssueId'),
  clearParent('parentIssueId'),
  clearSomePreviousValues,
];

type TableWithFewRows = TableName &
  (
    | 'agentThread'
    | 'issueText'
    | 'issueRoleAssignment'
    | 'issueSubscription'
    | 'issueLabel'
    | 'issueAssignee'
  );

/** Removes all rows at once, from a table in which an issue has few. */
function allOf(table: TableWithFewRows): RemoveSome {
  return async (trx, issueIds) => {
    const { numDeletedRows } = await trx
      .deleteFrom(table)
      .where('issueId', '=', anyUuid(issueIds))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  };
}

/**
 * Removes the newest messages of each thread first, because replies are usually newer than the messages that they answer. A
 * remaining reply to a removed message loses its reference.
 */
async function removeSomeMessages(trx: Trx, issueIds: readonly string[], limit: number): Promise<number> {
  const found = await trx
    .selectFrom('agentThread as t')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('agentThreadMessage as m')
          .select('m.id')
          .whereRef('m.threadId', '=', 't.id')
          .orderBy('m.sortOrder', 'desc')
          .limit(limit)
          .as('newest'),
      (join) => join.onTrue(),
    )
    .select('newest.id')
    .where('t.issueId', '=', anyUuid(issueIds))
    .limit(limit)
    .execute();
  const ids = idsOf(found);
  if (ids.length === 0) return 0;
  await trx
    .updateTable('agentThreadMessage')
    .set({ replyToMessageId: null })
    .where('replyToMessageId', '=', anyUuid(ids))
    .where('id', '!=', allUuids(ids))
    .execute();
  await trx.deleteFrom('agentThreadMessage').where('id', '=', anyUuid(ids)).execute();
  return ids.length;
}

/** Removes the newest comments of each issue first, for the same reason, together with their import records. */
async function removeSomeComments(trx: Trx, issueIds: readonly string[], limit: number): Promise<number> {
  const found = await trx
    .selectFrom('issue as i')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('comment as c')
          .select('c.id')
          .whereRef('c.issueId', '=', 'i.id')
          .orderBy('c.id', 'desc')
          .limit(limit)
          .as('newest'),
      (join) => join.onTrue(),
    )
    .select('newest.id')
    .where('i.id', '=', anyUuid(issueIds))
    .limit(limit)
    .execute();
  const ids = idsOf(found);
  if (ids.length === 0) return 0;
  await trx
    .updateTable('comment')
    .set({ parentCommentId: null })
    .where('parentCommentId', '=', anyUuid(ids))
    .where('id', '!=', allUuids(ids))
    .execute();
  await trx.deleteFrom('importSource').where('targetId', '=', anyUuid(ids)).execute();
  await trx.deleteFrom('comment').where('id', '=', anyUuid(ids)).execute();
  return ids.length;
}

async function removeSomeStages(trx: Trx, issueIds: readonly string[], limit: number): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('issueStage')
    .where('issueId', '=', anyUuid(issueIds))
    .where((eb) =>
      eb(
        eb.refTuple('issueId', 'sortOrder'),
        'in',
        eb
          .selectFrom('issueStage as s')
          .select(['s.issueId', 's.sortOrder'])
          .where('s.issueId', '=', anyUuid(issueIds))
          .limit(limit)
          .$asTuple('issueId', 'sortOrder'),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Removes some rows of a table in which an issue may have many, and whose rows do not refer to each other. */
function someOf(table: RowsOfIssues): RemoveSome {
  return async (trx, issueIds, limit) => {
    const ids = idsOf(
      await trx
        .selectFrom(table)
        .select('id')
        .where('issueId', '=', anyUuid(issueIds))
        .limit(limit)
        .execute(),
    );
    if (ids.length > 0) await trx.deleteFrom(table).where('id', '=', anyUuid(ids)).execute();
    return ids.length;
  };
}

/** The tables whose rows have an id and belong to an issue. */
type RowsOfIssues = {
  [Name in TableName]: Row<Name> extends { id: string; issueId: string } ? Name : never;
}[TableName];

/** Clears the references of sub-issues to the issues. */
function clearParent(column: 'deletedParentIssueId' | 'parentIssueId'): RemoveSome {
  return async (trx, issueIds, limit) => {
    const ids = idsOf(
      await trx
        .selectFrom('issue')
        .select('id')
        .where(column, '=', anyUuid(issueIds))
        .orderBy('id')
        .limit(limit)
        .forUpdate()
        .execute(),
    );
    if (ids.length > 0) {
      await trx
        .updateTable('issue')
        .set({ [column]: null })
        .where('id', '=', anyUuid(ids))
        .execute();
    }
    return ids.length;
  };
}

/** Clears the previous values of changes of the issues. The log still has the changes themselves. */
async function clearSomePreviousValues(
  trx: Trx,
  issueIds: readonly string[],
  limit: number,
): Promise<number> {
  const found = await trx
    .selectFrom('change')
    .select('position')
    .where('issueId', '=', anyUuid(issueIds))
    .where('previous', 'is not', null)
    .limit(limit)
    .execute();
  if (found.length === 0) return 0;
  const positions = sql<number>`any(${found.map(({ position }) => position)}::bigint[])`;
  await trx.updateTable('change').set({ previous: null }).where('position', '=', positions).execute();
  return found.length;
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

/** `all(…)` of ids, to be compared with `!=`. */
function allUuids(ids: readonly string[]) {
  return sql<string>`all(${ids}::uuid[])`;
}
