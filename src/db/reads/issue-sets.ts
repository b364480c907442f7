import { type Insertable, sql, type SqlBool } from 'kysely';
import { anyUuid } from '../query/any-uuid.ts';
import type {
  IssueAssigneeTable,
  IssueLabelTable,
  IssueRoleAssignmentTable,
  IssueSubscriptionTable,
} from '../tables/issue-tables.ts';
import type { Row } from '../tables/tables.ts';
import type { Trx } from '../engine/transaction.ts';

/** The assignees of issues, in their order. */
export async function selectAssignees(
  trx: Trx,
  workspaceId: string,
  issueIds: Iterable<string>,
): Promise<Row<'issueAssignee'>[]> {
  return trx
    .selectFrom('issueAssignee')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', anyUuid(issueIds))
    .orderBy('position')
    .orderBy('userAccountId')
    .execute();
}

/** Makes these the assignees of the issues; rows that stay are touched only when their place changes. */
export async function replaceAssignees(
  trx: Trx,
  workspaceId: string,
  issueIds: Iterable<string>,
  rows: readonly Insertable<IssueAssigneeTable>[],
): Promise<void> {
  const kept = sql<SqlBool>`(issue_id, user_account_id) in (select * from unnest(
    ${rows.map((row) => row.issueId)}::uuid[], ${rows.map((row) => row.userAccountId)}::uuid[]))`;
  await trx
    .deleteFrom('issueAssignee')
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', anyUuid(issueIds))
    .where((eb) => eb.not(kept))
    .execute();
  await insertAssignees(trx, rows);
}

/** Adds assignees; who is one already gets his place. */
export async function insertAssignees(
  trx: Trx,
  rows: readonly Insertable<IssueAssigneeTable>[],
): Promise<void> {
  if (rows.length === 0) return;
  await trx
    .insertInto('issueAssignee')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['workspaceId', 'issueId', 'userAccountId'])
        .doUpdateSet((eb) => ({ position: eb.ref('excluded.position') }))
        .whereRef('issueAssignee.position', '<>', 'excluded.position'),
    )
    .execute();
}

/** Makes these the labels of each of the issues. */
export async function replaceLabels(
  trx: Trx,
  workspaceId: string,
  issueIds: readonly string[],
  labelIds: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('issueLabel')
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', anyUuid(issueIds))
    .where((eb) => eb.not(eb('labelId', '=', anyUuid(labelIds))))
    .execute();
  await insertLabels(trx, workspaceId, issueIds, labelIds);
}

/** Puts labels on each of the issues; those that are on it already stay. */
export async function insertLabels(
  trx: Trx,
  workspaceId: string,
  issueIds: readonly string[],
  labelIds: readonly string[],
): Promise<void> {
  const rows: Insertable<IssueLabelTable>[] = issueIds.flatMap((issueId) =>
    labelIds.map((labelId) => ({ workspaceId, issueId, labelId })),
  );
  if (rows.length === 0) return;
  await trx
    .insertInto('issueLabel')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Makes these the role assignments of each of the issues. */
export async function replaceRoleAssignments(
  trx: Trx,
  workspaceId: string,
  issueIds: readonly string[],
  assignments: readonly Pick<Row<'issueRoleAssignment'>, 'role' | 'userAccountId'>[],
): Promise<void> {
  await trx
    .deleteFrom('issueRoleAssignment')
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', anyUuid(issueIds))
    .execute();
  await insertRoleAssignments(trx, workspaceId, issueIds, assignments);
}

/** Gives people parts in each of the issues; one who has the part already keeps it. */
export async function insertRoleAssignments(
  trx: Trx,
  workspaceId: string,
  issueIds: readonly string[],
  assignments: readonly Pick<Row<'issueRoleAssignment'>, 'role' | 'userAccountId'>[],
): Promise<void> {
  const rows: Insertable<IssueRoleAssignmentTable>[] = issueIds.flatMap((issueId) =>
    assignments.map(({ role, userAccountId }) => ({ workspaceId, issueId, role, userAccountId })),
  );
  if (rows.length === 0) return;
  await trx
    .insertInto('issueRoleAssignment')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Makes people follow issues; who does already goes on. */
export async function insertSubscriptions(
  trx: Trx,
  rows: readonly Insertable<IssueSubscriptionTable>[],
): Promise<void> {
  if (rows.length === 0) return;
  await trx
    .insertInto('issueSubscription')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteSubscription(
  trx: Trx,
  workspaceId: string,
  issueId: string,
  userAccountId: string,
): Promise<void> {
  await trx
    .deleteFrom('issueSubscription')
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', issueId)
    .where('userAccountId', '=', userAccountId)
    .execute();
}
