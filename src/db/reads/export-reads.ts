import { anyUuid } from '../query/any-uuid.ts';
import type { Row } from '../tables/tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** An issue with the names of the single objects that it refers to. */
export type ExportedIssueRow = Awaited<ReturnType<typeof selectIssuesAfter>>[number];

/** The page of a team's issues after `number`, in the order of their numbers; with deleted issues only if `deleted`. */
export async function selectIssuesAfter(
  db: TenantDb,
  teamId: string,
  { number, limit, deleted }: { number: number; limit: number; deleted: boolean },
) {
  return withParent(db, deleted)
    .innerJoin('status', (join) => join.onRef('status.id', '=', 'issue.statusId'))
    .leftJoin('project', (join) => join.onRef('project.id', '=', 'issue.projectId'))
    .leftJoin('delivery', (join) => join.onRef('delivery.id', '=', 'issue.deliveryId'))
    .selectAll('issue')
    .select(['status.name as statusName', 'status.category as statusCategory'])
    .select(['project.key as projectKey', 'delivery.number as deliveryNumber'])
    .where('issue.teamId', '=', teamId)
    .where('issue.number', '>', number)
    .$if(!deleted, (query) => query.where('issue.deletedUtc', 'is', null))
    .orderBy('issue.number')
    .limit(limit)
    .execute();
}

/** How many issues an export of teams has. */
export async function countExportedIssues(
  db: TenantDb,
  teamIds: readonly string[],
  { deleted }: { deleted: boolean },
): Promise<number> {
  const { count } = await db
    .selectFrom('issue')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('teamId', '=', anyUuid([...teamIds]))
    .$if(!deleted, (query) => query.where('deletedUtc', 'is', null))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Issues with their parents; with deleted parents only if `deleted`. */
function withParent(db: TenantDb, deleted: boolean) {
  return db
    .selectFrom('issue')
    .leftJoin('issue as parent', (join) =>
      join.on((eb) => {
        const isParent = eb('parent.id', '=', eb.ref('issue.parentIssueId'));
        return deleted
          ? eb.or([isParent, eb('parent.id', '=', eb.ref('issue.deletedParentIssueId'))])
          : isParent;
      }),
    )
    .leftJoin('team as parentTeam', (join) => join.onRef('parentTeam.id', '=', 'parent.teamId'))
    .select(['parent.number as parentNumber', 'parentTeam.code as parentTeamCode']);
}

/** The rows of other tables that belong to a page of issues. */
export interface RelatedRows {
  comments: Row<'comment'>[];
  links: Row<'issueLink'>[];
  labels: LabelRow[];
  assignees: Row<'issueAssignee'>[];
  roles: Row<'issueRoleAssignment'>[];
  subscribers: Row<'issueSubscription'>[];
  activity: Row<'activity'>[];
  stages: StageRow[];
  threads: Row<'agentThread'>[];
  messages: Row<'agentThreadMessage'>[];
  /** The attachments whose upload is finished. */
  attachments: Row<'attachment'>[];
}

/**
 * Reads everything that belongs to a page of issues, with one statement per table; with deleted comments and links only
 * if `deleted`.
 */
export async function selectRelatedRows(
  db: TenantDb,
  issueIds: string[],
  { deleted }: { deleted: boolean },
): Promise<RelatedRows> {
  return {
    comments: await byCreationTime(db, 'comment', issueIds, { deleted }),
    links: await byCreationTime(db, 'issueLink', issueIds, { deleted }),
    labels: await selectLabelNames(db, issueIds),
    assignees: await ofIssues(db, 'issueAssignee', issueIds),
    roles: await ofIssues(db, 'issueRoleAssignment', issueIds),
    subscribers: await ofIssues(db, 'issueSubscription', issueIds),
    activity: await bySortOrder(db, 'activity', issueIds),
    stages: await selectStages(db, issueIds),
    threads: await ofIssues(db, 'agentThread', issueIds),
    messages: await bySortOrder(db, 'agentThreadMessage', issueIds),
    attachments: (await byCreationTime(db, 'attachment', issueIds, { deleted: false })).filter(
      ({ uploadedUtc }) => uploadedUtc !== null,
    ),
  };
}

/** Members by their accounts. */
export async function selectMembersByAccount(
  db: TenantDb,
  userAccountIds: string[],
): Promise<Row<'member'>[]> {
  return db.selectFrom('member').selectAll().where('userAccountId', '=', anyUuid(userAccountIds)).execute();
}

async function byCreationTime<Name extends 'comment' | 'issueLink' | 'attachment'>(
  db: TenantDb,
  table: Name,
  issueIds: string[],
  { deleted }: { deleted: boolean },
): Promise<Row<Name>[]> {
  const rows = await db
    .selectFrom<'comment' | 'issueLink' | 'attachment'>(table)
    .selectAll()
    .where('issueId', '=', anyUuid(issueIds))
    .$if(!deleted, (query) => query.where('deletedUtc', 'is', null))
    .orderBy('createdUtc')
    .orderBy('id')
    .execute();
  // The rows are those of the table that was passed, which the compiler cannot see.
  return rows as Row<Name>[];
}

async function bySortOrder<Name extends 'activity' | 'agentThreadMessage'>(
  db: TenantDb,
  table: Name,
  issueIds: string[],
): Promise<Row<Name>[]> {
  const rows = await db
    .selectFrom<'activity' | 'agentThreadMessage'>(table)
    .selectAll()
    .where('issueId', '=', anyUuid(issueIds))
    .orderBy('issueId')
    .orderBy('sortOrder')
    .execute();
  return rows as Row<Name>[];
}

type UnorderedTable = 'issueAssignee' | 'issueRoleAssignment' | 'issueSubscription' | 'agentThread';

async function ofIssues<Name extends UnorderedTable>(
  db: TenantDb,
  table: Name,
  issueIds: string[],
): Promise<Row<Name>[]> {
  const rows = await db
    .selectFrom<UnorderedTable>(table)
    .selectAll()
    .where('issueId', '=', anyUuid(issueIds))
    .execute();
  return rows as Row<Name>[];
}

/** A stage with the names of the objects that it refers to. */
export type StageRow = Pick<Row<'issueStage'>, 'issueId' | 'sinceUtc' | 'estimateValue' | 'deleted'> & {
  statusName: string | null;
  projectKey: string | null;
  deliveryNumber: number | null;
};

function selectStages(db: TenantDb, issueIds: string[]): Promise<StageRow[]> {
  return db
    .selectFrom('issueStage')
    .leftJoin('status', 'status.id', 'issueStage.statusId')
    .leftJoin('project', 'project.id', 'issueStage.projectId')
    .leftJoin('delivery', 'delivery.id', 'issueStage.deliveryId')
    .select(['issueStage.issueId', 'issueStage.sinceUtc', 'issueStage.estimateValue', 'issueStage.deleted'])
    .select(['status.name as statusName', 'project.key as projectKey', 'delivery.number as deliveryNumber'])
    .where('issueStage.issueId', '=', anyUuid(issueIds))
    .orderBy('issueStage.issueId')
    .orderBy('issueStage.sortOrder')
    .execute();
}

/** A label of an issue; `isShadowed` if it is of the workspace and the team of the issue has one of the same name. */
export interface LabelRow {
  issueId: string;
  name: string;
  isShadowed: boolean;
}

function selectLabelNames(db: TenantDb, issueIds: string[]): Promise<LabelRow[]> {
  return db
    .selectFrom('issueLabel')
    .innerJoin('label', 'label.id', 'issueLabel.labelId')
    .innerJoin('issue', 'issue.id', 'issueLabel.issueId')
    .leftJoin('label as ofTeam', (join) =>
      join
        .onRef('ofTeam.teamId', '=', 'issue.teamId')
        .onRef('ofTeam.nameFold', '=', 'label.nameFold')
        .on('ofTeam.isGroup', '=', false)
        .on('label.teamId', 'is', null),
    )
    .select(['issueLabel.issueId', 'label.name'])
    .select((eb) => eb('ofTeam.id', 'is not', null).$castTo<boolean>().as('isShadowed'))
    .where('issueLabel.issueId', '=', anyUuid(issueIds))
    .orderBy('label.nameFold')
    .orderBy('label.id')
    .execute();
}
