import { sql, type SqlBool } from 'kysely';
import { anyUuid } from '../query/any-uuid.ts';
import type { Row } from '../tables/tables.ts';
import type { Trx } from '../engine/transaction.ts';
import type { NewRow } from '../tables/tenant-tables.ts';

/** The assignees of issues, in their order. */
export async function selectAssignees(trx: Trx, issueIds: Iterable<string>): Promise<Row<'issueAssignee'>[]> {
  return trx
    .selectFrom('issueAssignee')
    .selectAll()
    .where('issueId', '=', anyUuid(issueIds))
    .orderBy('position')
    .orderBy('userAccountId')
    .execute();
}

/** Replaces the assignees of issues. The rows of remaining assignees are updated only if their position changes. */
export async function replaceAssignees(
  trx: Trx,
  issueIds: Iterable<string>,
  rows: readonly NewRow<'issueAssignee'>[],
): Promise<void> {
  const isRemaining = sql<SqlBool>`(issue_id, user_account_id) in (select * from unnest(
    ${rows.map((row) => row.issueId)}::uuid[], ${rows.map((row) => row.userAccountId)}::uuid[]))`;
  await trx
    .deleteFrom('issueAssignee')
    .where('issueId', '=', anyUuid(issueIds))
    .where((eb) => eb.not(isRemaining))
    .execute();
  await insertAssignees(trx, rows);
}

/** Adds assignees. Existing assignees get the new position. */
async function insertAssignees(trx: Trx, rows: readonly NewRow<'issueAssignee'>[]): Promise<void> {
  if (rows.length === 0) return;
  await trx
    .insertInto('issueAssignee')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['issueId', 'userAccountId'])
        .doUpdateSet((eb) => ({ position: eb.ref('excluded.position') }))
        .whereRef('issueAssignee.position', '<>', 'excluded.position'),
    )
    .execute();
}

/** Replaces the labels of each issue. */
export async function replaceLabels(
  trx: Trx,
  issueIds: readonly string[],
  labelIds: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('issueLabel')
    .where('issueId', '=', anyUuid(issueIds))
    .where((eb) => eb.not(eb('labelId', '=', anyUuid(labelIds))))
    .execute();
  await insertLabels(trx, issueIds, labelIds);
}

/** Adds labels to each issue, unless the issue already has them. */
async function insertLabels(
  trx: Trx,
  issueIds: readonly string[],
  labelIds: readonly string[],
): Promise<void> {
  const rows: NewRow<'issueLabel'>[] = issueIds.flatMap((issueId) =>
    labelIds.map((labelId) => ({ issueId, labelId })),
  );
  if (rows.length === 0) return;
  await trx
    .insertInto('issueLabel')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Replaces the role assignments of each issue. */
export async function replaceRoleAssignments(
  trx: Trx,
  issueIds: readonly string[],
  assignments: readonly Pick<Row<'issueRoleAssignment'>, 'role' | 'userAccountId'>[],
): Promise<void> {
  await trx.deleteFrom('issueRoleAssignment').where('issueId', '=', anyUuid(issueIds)).execute();
  await insertRoleAssignments(trx, issueIds, assignments);
}

/** Adds role assignments to each issue, unless the issue already has them. */
async function insertRoleAssignments(
  trx: Trx,
  issueIds: readonly string[],
  assignments: readonly Pick<Row<'issueRoleAssignment'>, 'role' | 'userAccountId'>[],
): Promise<void> {
  const rows: NewRow<'issueRoleAssignment'>[] = issueIds.flatMap((issueId) =>
    assignments.map(({ role, userAccountId }) => ({ issueId, role, userAccountId })),
  );
  if (rows.length === 0) return;
  await trx
    .insertInto('issueRoleAssignment')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Adds subscriptions, unless they exist. */
export async function insertSubscriptions(
  trx: Trx,
  rows: readonly NewRow<'issueSubscription'>[],
): Promise<void> {
  if (rows.length === 0) return;
  await trx
    .insertInto('issueSubscription')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteSubscription(trx: Trx, issueId: string, userAccountId: string): Promise<void> {
  await trx
    .deleteFrom('issueSubscription')
    .where('issueId', '=', issueId)
    .where('userAccountId', '=', userAccountId)
    .execute();
}
