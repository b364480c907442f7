import {
  type ExpressionBuilder,
  type Insertable,
  type Kysely,
  type SelectQueryBuilder,
  sql,
  type Updateable,
} from 'kysely';
import { untyped } from '../query/any-tables.ts';
import { anyUuid } from '../query/any-uuid.ts';
import type { ImportSourceTable } from '../tables/directory-tables.ts';
import type { CommentTable, IssueTable } from '../tables/issue-tables.ts';
import type { TableName, Tables } from '../tables/tables.ts';
import type { Trx } from '../engine/transaction.ts';

/** Rows in one statement: far fewer parameters than the 65,535 that the protocol allows. */
const rowsPerStatement = 500;

/** Inserts any number of rows of one table. */
export async function insertRows<Name extends TableName>(
  trx: Trx,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await untyped(trx)
      .insertInto(table)
      .values(rows.slice(from, from + rowsPerStatement))
      .execute();
  }
}

/** Keeps where rows came from, in place of what was kept of them before. */
export async function upsertImportSources(
  trx: Trx,
  rows: readonly Insertable<ImportSourceTable>[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await trx
      .insertInto('importSource')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.columns(['workspaceId', 'source', 'kind', 'sourceId']).doUpdateSet((eb) => ({
          targetId: eb.ref('excluded.targetId'),
          record: eb.ref('excluded.record'),
          importedUtc: sql<Date>`now()`,
        })),
      )
      .execute();
  }
}

/** Changes one locked issue and counts the change. */
export async function updateImportedIssue(
  trx: Trx,
  workspaceId: string,
  id: string,
  columns: Omit<Updateable<IssueTable>, 'workspaceId' | 'id' | 'revision'>,
): Promise<void> {
  await trx
    .updateTable('issue')
    .set(columns)
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Puts locked issues below parents and counts the change, all by one statement. */
export async function attachIssues(
  trx: Trx,
  workspaceId: string,
  parents: ReadonlyMap<string, string>,
): Promise<void> {
  if (parents.size === 0) return;
  await trx
    .updateTable('issue')
    .from(
      sql<{
        id: string;
        parentId: string;
      }>`unnest(${[...parents.keys()]}::uuid[], ${[...parents.values()]}::uuid[])`.as<'placed'>(
        sql`placed(id, parent_id)`,
      ),
    )
    .set((eb) => ({
      parentIssueId: eb.ref('placed.parentId'),
      deletedParentIssueId: null,
      revision: eb('issue.revision', '+', 1),
    }))
    .where('issue.workspaceId', '=', workspaceId)
    .whereRef('issue.id', '=', 'placed.id')
    .execute();
}

/** Gives a living comment another body and counts the change. */
export async function updateImportedComment(
  trx: Trx,
  workspaceId: string,
  id: string,
  columns: Pick<Updateable<CommentTable>, 'body' | 'isEdited' | 'updatedUtc'>,
): Promise<void> {
  await trx
    .updateTable('comment')
    .set(columns)
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .execute();
}

/** Brings the counts of locked issues to the truth, and the time of their newest comment. */
export async function recountIssues(trx: Trx, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('issue')
    .from((eb) => countsOf(eb.selectFrom('issue as counted'), workspaceId, ids).as('truth'))
    .set((eb) => ({
      commentCount: sql<number>`${eb.ref('truth.comments')}`,
      lastCommentUtc: eb.ref('truth.lastCommentUtc'),
      subIssueCount: sql<number>`${eb.ref('truth.subIssues')}`,
      linkCount: sql<number>`${eb.ref('truth.links')}`,
    }))
    .where('issue.workspaceId', '=', workspaceId)
    .whereRef('issue.id', '=', 'truth.id')
    .where(
      sql<boolean>`(issue.comment_count, issue.last_comment_utc, issue.sub_issue_count, issue.link_count)
        is distinct from (truth.comments, truth.last_comment_utc, truth.sub_issues, truth.links)`,
    )
    .execute();
}

type CountedIssues = SelectQueryBuilder<Tables & { counted: IssueTable }, 'counted', object>;

/** What living things hang on issues. */
function countsOf(issues: CountedIssues, workspaceId: string, ids: readonly string[]) {
  const count = sql<number>`count(*)::int`.as('count');
  const livingComments = (eb: ExpressionBuilder<Tables & { counted: IssueTable }, 'counted'>) =>
    eb
      .selectFrom('comment')
      .whereRef('comment.workspaceId', '=', 'counted.workspaceId')
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
        .whereRef('child.workspaceId', '=', 'counted.workspaceId')
        .whereRef('child.parentIssueId', '=', 'counted.id')
        .where('child.deletedUtc', 'is', null)
        .as('subIssues'),
      eb
        .selectFrom('issueLink')
        .select(count)
        .whereRef('issueLink.workspaceId', '=', 'counted.workspaceId')
        .whereRef('issueLink.issueId', '=', 'counted.id')
        .where('issueLink.deletedUtc', 'is', null)
        .as('links'),
    ])
    .where('counted.workspaceId', '=', workspaceId)
    .where('counted.id', '=', anyUuid(ids));
}

/**
 * Tells the planner how much there is now. Until it knows, it checks foreign keys by an index of the workspace alone,
 * at the cost of all its rows; the embedded engine never finds out by itself.
 */
export async function analyzeTables(unscoped: Kysely<Tables>): Promise<void> {
  await sql`analyze issue, activity, comment, issue_label, issue_assignee, issue_subscription, issue_link, import_source, member, label, team, team_member, status, delivery, project, project_member, attachment, agent_thread, agent_thread_message`.execute(
    unscoped,
  );
}
