import type { Kysely } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import type { Row, Tables } from './tables/tables.ts';

/** An issue with the names of the single things that it refers to. */
export type ExportedIssueRow = Awaited<ReturnType<typeof selectIssuesAfter>>[number];

/** Living issues of a team by number, from the one after `number`: a page by its key. */
export async function selectIssuesAfter(
  db: Kysely<Tables>,
  workspaceId: string,
  teamId: string,
  number: number,
  limit: number,
) {
  return withParent(db)
    .innerJoin('status', (join) =>
      join.onRef('status.workspaceId', '=', 'issue.workspaceId').onRef('status.id', '=', 'issue.statusId'),
    )
    .leftJoin('project', (join) =>
      join.onRef('project.workspaceId', '=', 'issue.workspaceId').onRef('project.id', '=', 'issue.projectId'),
    )
    .leftJoin('delivery', (join) =>
      join
        .onRef('delivery.workspaceId', '=', 'issue.workspaceId')
        .onRef('delivery.id', '=', 'issue.deliveryId'),
    )
    .selectAll('issue')
    .select(['status.name as statusName', 'status.category as statusCategory'])
    .select(['project.key as projectKey', 'delivery.number as deliveryNumber'])
    .where('issue.workspaceId', '=', workspaceId)
    .where('issue.teamId', '=', teamId)
    .where('issue.number', '>', number)
    .where('issue.deletedUtc', 'is', null)
    .orderBy('issue.number')
    .limit(limit)
    .execute();
}

function withParent(db: Kysely<Tables>) {
  return db
    .selectFrom('issue')
    .leftJoin('issue as parent', (join) =>
      join
        .onRef('parent.workspaceId', '=', 'issue.workspaceId')
        .onRef('parent.id', '=', 'issue.parentIssueId'),
    )
    .leftJoin('team as parentTeam', (join) =>
      join
        .onRef('parentTeam.workspaceId', '=', 'parent.workspaceId')
        .onRef('parentTeam.id', '=', 'parent.teamId'),
    )
    .select(['parent.number as parentNumber', 'parentTeam.code as parentTeamCode']);
}

/** Everything that hangs on issues, and whom it names. */
export interface IssueBelongings {
  comments: Row<'comment'>[];
  links: Row<'issueLink'>[];
  labels: { issueId: string; name: string }[];
  assignees: Row<'issueAssignee'>[];
  roles: Row<'issueRoleAssignment'>[];
  subscribers: Row<'issueSubscription'>[];
}

/** Reads what hangs on a page of issues, each kind by one statement. */
export async function selectBelongings(
  db: Kysely<Tables>,
  workspaceId: string,
  issueIds: string[],
): Promise<IssueBelongings> {
  return {
    comments: await living(db, 'comment', workspaceId, issueIds),
    links: await living(db, 'issueLink', workspaceId, issueIds),
    labels: await selectLabelNames(db, workspaceId, issueIds),
    assignees: await ofIssues(db, 'issueAssignee', workspaceId, issueIds),
    roles: await ofIssues(db, 'issueRoleAssignment', workspaceId, issueIds),
    subscribers: await ofIssues(db, 'issueSubscription', workspaceId, issueIds),
  };
}

/** Members by their accounts. */
export async function selectMembersByAccount(
  db: Kysely<Tables>,
  workspaceId: string,
  userAccountIds: string[],
): Promise<Row<'member'>[]> {
  return db
    .selectFrom('member')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('userAccountId', '=', anyUuid(userAccountIds))
    .execute();
}

async function living<Name extends 'comment' | 'issueLink'>(
  db: Kysely<Tables>,
  table: Name,
  workspaceId: string,
  issueIds: string[],
): Promise<Row<Name>[]> {
  const rows = await db
    .selectFrom<'comment' | 'issueLink'>(table)
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', anyUuid(issueIds))
    .where('deletedUtc', 'is', null)
    .orderBy('createdUtc')
    .orderBy('id')
    .execute();
  // The rows of the table that was asked for.
  return rows as Row<Name>[];
}

async function ofIssues<Name extends 'issueAssignee' | 'issueRoleAssignment' | 'issueSubscription'>(
  db: Kysely<Tables>,
  table: Name,
  workspaceId: string,
  issueIds: string[],
): Promise<Row<Name>[]> {
  const rows = await db
    .selectFrom<'issueAssignee' | 'issueRoleAssignment' | 'issueSubscription'>(table)
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('issueId', '=', anyUuid(issueIds))
    .execute();
  return rows as Row<Name>[];
}

function selectLabelNames(
  db: Kysely<Tables>,
  workspaceId: string,
  issueIds: string[],
): Promise<{ issueId: string; name: string }[]> {
  return db
    .selectFrom('issueLabel')
    .innerJoin('label', (join) =>
      join
        .onRef('label.workspaceId', '=', 'issueLabel.workspaceId')
        .onRef('label.id', '=', 'issueLabel.labelId'),
    )
    .select(['issueLabel.issueId', 'label.name'])
    .where('issueLabel.workspaceId', '=', workspaceId)
    .where('issueLabel.issueId', '=', anyUuid(issueIds))
    .orderBy('label.nameFold')
    .orderBy('label.id')
    .execute();
}
