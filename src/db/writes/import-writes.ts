import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql, type Updateable } from 'kysely';
import { inSql } from '../tables/sql-names.ts';
import { untyped } from '../query/any-tables.ts';
import { anyUuid } from '../query/any-uuid.ts';
import type { Row, TableName, Tables } from '../tables/tables.ts';
import type { Trx } from '../engine/transaction.ts';
import type { NewRow, TenantTables } from '../tables/tenant-tables.ts';

/** Rows in one statement: far fewer parameters than the 65,535 that the protocol allows. */
const rowsPerStatement = 500;

/** Inserts any number of rows of one table. */
export async function insertRows<Name extends TableName>(
  trx: Trx,
  table: Name,
  rows: readonly NewRow<Name>[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await untyped(trx)
      .insertInto(table)
      .values(rows.slice(from, from + rowsPerStatement))
      .execute();
  }
}

/** Keeps where rows came from, in place of what was kept of them before. */
export async function upsertImportSources(trx: Trx, rows: readonly NewRow<'importSource'>[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await trx
      .insertInto('importSource')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.columns(['source', 'kind', 'sourceId']).doUpdateSet((eb) => ({
          targetId: eb.ref('excluded.targetId'),
          record: eb.ref('excluded.record'),
          importedUtc: sql<Date>`now()`,
        })),
      )
      .execute();
  }
}

/** Counts issues that come into a team deleted; those that are deleted later are counted by a trigger. */
export async function addGoneIssues(trx: Trx, teamId: string, count: number): Promise<void> {
  await trx
    .updateTable('teamCounter')
    .set((eb) => ({ goneIssueCount: eb('goneIssueCount', '+', count) }))
    .where('teamId', '=', teamId)
    .execute();
}

/** Remembers that the history of the workspace's issues is not complete before any of these times. */
export async function markHistory(trx: Trx, times: readonly Date[]): Promise<void> {
  if (times.length === 0) return;
  const sinceUtc = new Date(Math.max(...times.map(Number)));
  await trx
    .updateTable('workspace')
    .set({ historySinceUtc: sinceUtc })
    .where((eb) => eb.or([eb('historySinceUtc', 'is', null), eb('historySinceUtc', '<', sinceUtc)]))
    .execute();
}

/** Gives a living comment another body, or deletes it, and counts the change. */
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

/** The counts of what belongs to an issue, computed from the rows. */
export type RecountedIssue = Pick<
  Row<'issue'>,
  'id' | 'commentCount' | 'lastCommentUtc' | 'subIssueCount' | 'linkCount'
>;

/** The issues whose counts differ from what belongs to them, with what they should be. */
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

/** What lives and belongs to issues. */
function countsOf(issues: CountedIssues, ids: readonly string[]) {
  const count = sql<number>`count(*)::int`.as('count');
  const livingComments = (
    eb: ExpressionBuilder<TenantTables & { counted: TenantTables['issue'] }, 'counted'>,
  ) =>
    eb
      .selectFrom('comment')
      .whereRef('comment.issueId', '=', 'counted.id')
      .where('comment.deletedUtc', 'is', null);
  return issues
    .select((eb) => [
      'counted.id',
      livingComments(eb).select(count).as('comments'),
      livingComments(eb)
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

/**
 * Tells the planner how much there is now. Until it knows, it checks foreign keys by an index of the workspace alone,
 * at the cost of all its rows; the embedded engine never finds out by itself.
 */
export async function analyzeTables(unscoped: Kysely<Tables>): Promise<void> {
  await sql`analyze ${sql.join(plannedTables.map((table) => sql.ref(table)))}`.execute(unscoped);
}

/** The tables whose size plans depend on. */
const plannedTables: readonly TableName[] = [
  'issue',
  'issueStage',
  'issueText',
  'issueTally',
  'activity',
  'comment',
  'issueLabel',
  'issueAssignee',
  'issueSubscription',
  'issueLink',
  'importSource',
  'member',
  'label',
  'team',
  'teamMember',
  'status',
  'delivery',
  'project',
  'projectMember',
  'attachment',
  'agentThread',
  'agentThreadMessage',
];

/**
 * Tells the planner the size of one table that has grown or shrunk by a tenth since it was last told. Returns whether there was
 * one. A table at a time, because the embedded engine does nothing else meanwhile: 100,000 issues take it more than a second.
 */
export async function analyzeStaleTable(unscoped: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relname = any(${plannedTables.map(inSql)}::text[])
      and abs(pg_relation_size(oid) / 8192 - relpages) > relpages / 10 + 10
    limit 1`.execute(unscoped);
  const [stale] = rows;
  if (stale) await sql`analyze ${sql.ref(stale.name)}`.execute(unscoped);
  return stale !== undefined;
}
