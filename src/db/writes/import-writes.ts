import { type ExpressionBuilder, type SelectQueryBuilder, sql, type Updateable } from 'kysely';
import { anyUuid } from '../query/any-uuid.ts';
import type { Row } from '../tables/tables.ts';
import type { Trx } from '../engine/transaction.ts';
import type { NewRow, TenantTables } from '../tables/tenant-tables.ts';
import { slicesOf } from './insert-rows.ts';

/** Stores which objects of the source the rows became, and replaces earlier records. */
export async function upsertImportSources(trx: Trx, rows: readonly NewRow<'importSource'>[]): Promise<void> {
  for (const slice of slicesOf(rows)) {
    await trx
      .insertInto('importSource')
      .values(slice)
      .onConflict((conflict) =>
        conflict.columns(['source', 'kind', 'sourceId']).doUpdateSet((eb) => ({
          targetId: eb.ref('excluded.targetId'),
          record: eb.ref('excluded.record'),
          importedUtc: eb.ref('excluded.importedUtc'),
        })),
      )
      .execute();
  }
}

/**
 * Adds issues that were imported as deleted to the team's count of deleted issues. A trigger adds those that are deleted
 * later.
 */
export async function addGoneIssues(trx: Trx, teamId: string, count: number): Promise<void> {
  await trx
    .updateTable('teamCounter')
    .set((eb) => ({ goneIssueCount: eb('goneIssueCount', '+', count) }))
    .where('teamId', '=', teamId)
    .execute();
}

/** Records that the history of the workspace's issues is complete only since the latest of these times. */
export async function markHistory(trx: Trx, times: readonly Date[]): Promise<void> {
  if (times.length === 0) return;
  const sinceUtc = new Date(Math.max(...times.map(Number)));
  await trx
    .updateTable('workspace')
    .set({ historySinceUtc: sinceUtc })
    .where((eb) => eb.or([eb('historySinceUtc', 'is', null), eb('historySinceUtc', '<', sinceUtc)]))
    .execute();
}

/** Changes the body of a comment that is not deleted, or deletes it, and increases its revision. */
export async function updateImportedComment(
  trx: Trx,
  id: string,
  columns: Pick<Updateable<TenantTables['comment']>, 'body' | 'isEdited' | 'updatedUtc' | 'deletedUtc'>,
): Promise<void> {
  await trx
    .updateTable('comment')
    .set(columns)
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .execute();
}

/** The counts of an issue, computed from the rows that belong to it. */
type RecountedIssue = Pick<
  Row<'issue'>,
  'id' | 'commentCount' | 'lastCommentUtc' | 'subIssueCount' | 'linkCount'
>;

/** The issues whose stored counts are wrong, with the right counts. */
export async function selectMiscounted(trx: Trx, ids: readonly string[]): Promise<RecountedIssue[]> {
  if (ids.length === 0) return [];
  return trx
    .selectFrom(countsOf(trx.selectFrom('issue as counted'), ids).as('truth'))
    .innerJoin('issue', 'issue.id', 'truth.id')
    .select((eb) => [
      'issue.id',
      sql<number>`${eb.ref('truth.comments')}`.as('commentCount'),
      'truth.lastCommentUtc',
      sql<number>`${eb.ref('truth.subIssues')}`.as('subIssueCount'),
      sql<number>`${eb.ref('truth.links')}`.as('linkCount'),
    ])
    .where(
      sql<boolean>`(issue.comment_count, issue.last_comment_utc, issue.sub_issue_count, issue.link_count)
        is distinct from (truth.comments, truth.last_comment_utc, truth.sub_issues, truth.links)`,
    )
    .execute();
}

type CountedIssues = SelectQueryBuilder<TenantTables & { counted: TenantTables['issue'] }, 'counted', object>;

/** Counts the rows that belong to issues and are not deleted. */
function countsOf(issues: CountedIssues, ids: readonly string[]) {
  const count = sql<number>`count(*)::int`.as('count');
  const commentsNotDeleted = (
    eb: ExpressionBuilder<TenantTables & { counted: TenantTables['issue'] }, 'counted'>,
  ) =>
    eb
      .selectFrom('comment')
      .whereRef('comment.issueId', '=', 'counted.id')
      .where('comment.deletedUtc', 'is', null);
  return issues
    .select((eb) => [
      'counted.id',
      commentsNotDeleted(eb).select(count).as('comments'),
      commentsNotDeleted(eb)
        .select(({ fn }) => fn.max('comment.createdUtc').as('lastUtc'))
        .as('lastCommentUtc'),
      eb
        .selectFrom('issue as child')
        .select(count)
        .whereRef('child.parentIssueId', '=', 'counted.id')
        .where('child.deletedUtc', 'is', null)
        .as('subIssues'),
      eb
        .selectFrom('issueLink')
        .select(count)
        .whereRef('issueLink.issueId', '=', 'counted.id')
        .where('issueLink.deletedUtc', 'is', null)
        .as('links'),
    ])
    .where('counted.id', '=', anyUuid(ids));
}
