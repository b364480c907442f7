import { fold } from '../../model/fold.ts';
import { type Draft, draftIssues } from './drafts.ts';
import type { IssueRecord } from './issue-record.ts';
import { liveIssue } from './lifecycle.ts';
import type { DemoRows, World } from './world.ts';

/** Adds the issues with all that hangs on them, and returns them in the order of their creation. */
export function addIssues(world: World): IssueRecord[] {
  const drafts = draftIssues(world);
  const records = new Map<Draft, IssueRecord>();
  const live = (draft: Draft): IssueRecord => {
    const known = records.get(draft);
    if (known) return known;
    const record = liveIssue(world, draft, draft.children.map(live));
    records.set(draft, record);
    return record;
  };
  const living = drafts.map(live);
  for (const record of living) addIssueRows(world, record);
  for (const team of world.teams.values()) {
    const ofTeam = drafts.filter((draft) => draft.team === team);
    world.rows.teamCounter.push({
      workspaceId: world.workspaceId,
      teamId: team.id,
      nextIssueNumber: ofTeam.length + 1,
      goneIssueCount: ofTeam.filter(({ deletedMs }) => deletedMs !== undefined).length,
    });
  }
  return living;
}

function addIssueRows(world: World, record: IssueRecord): void {
  const { rows, workspaceId } = world;
  const key = { workspaceId, issueId: record.id };
  rows.issue.push(issueRow(world, record));
  for (const [position, { userAccountId }] of record.assignees.entries())
    rows.issueAssignee.push({ ...key, userAccountId, position });
  for (const label of record.labels) rows.issueLabel.push({ ...key, labelId: label.id });
  for (const { userAccountId } of record.subscribers) rows.issueSubscription.push({ ...key, userAccountId });
  for (const { role, member } of record.roles) {
    rows.issueRoleAssignment.push({ ...key, role, userAccountId: member.userAccountId });
  }
  addComments(world, record);
}

function issueRow({ workspaceId }: World, record: IssueRecord): DemoRows['issue'][number] {
  const { draft } = record;
  const comments = record.comments.filter((comment) => comment.deletedMs === undefined);
  return {
    workspaceId,
    id: record.id,
    teamId: draft.team.id,
    number: draft.number,
    title: record.title,
    titleFold: fold(record.title),
    description: draft.description,
    reporterUserAccountId: draft.reporter.userAccountId,
    ...familyColumns(draft),
    statusId: record.status.id,
    statusRank: record.status.rank,
    priority: record.priority,
    primaryAssigneeUserAccountId: record.assignees[0]?.userAccountId ?? null,
    projectId: record.project?.id ?? null,
    deliveryId: record.delivery?.id ?? null,
    estimateValue: record.estimate ?? null,
    dueDate: record.dueDate ?? null,
    commentCount: comments.length,
    linkCount: record.linkCount,
    activityCount: record.activityCount,
    createdUtc: new Date(draft.createdMs),
    updatedUtc: new Date(record.updatedMs),
    lastActivityUtc: dateOrNull(record.lastActivityMs),
    lastCommentUtc: dateOrNull(comments.at(-1)?.createdMs),
    closedUtc: dateOrNull(record.closedMs),
    deletedUtc: dateOrNull(draft.deletedMs),
    revision: record.updateCount + 1,
  };
}

/** A deleted parent is remembered apart, and has no sub-issues itself. */
function familyColumns({ parent, children, deletedMs }: Draft) {
  const isOrphan = parent?.deletedMs !== undefined;
  const living = children.filter((child) => child.deletedMs === undefined);
  return {
    parentIssueId: isOrphan ? null : (parent?.id ?? null),
    deletedParentIssueId: isOrphan ? parent.id : null,
    subIssueCount: deletedMs === undefined ? living.length : 0,
  };
}

function addComments(world: World, record: IssueRecord): void {
  for (const { id, parent, author, body, createdMs, editedMs, deletedMs } of record.comments) {
    world.rows.comment.push({
      workspaceId: world.workspaceId,
      id,
      issueId: record.id,
      parentCommentId: parent?.id ?? null,
      parentAuthorUserAccountId: parent?.author.userAccountId ?? null,
      authorUserAccountId: author.userAccountId,
      body,
      isEdited: editedMs !== undefined,
      createdUtc: new Date(createdMs),
      updatedUtc: new Date(editedMs ?? createdMs),
      deletedUtc: dateOrNull(deletedMs),
      revision: 1 + Number(editedMs !== undefined) + Number(deletedMs !== undefined),
    });
  }
}

function dateOrNull(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
