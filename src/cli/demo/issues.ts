import { fold } from '../../resolvers/fold.ts';
import { type Draft, draftIssues } from './drafts.ts';
import type { IssueRecord } from './issue-record.ts';
import { liveIssue } from './lifecycle.ts';
import type { World } from './world.ts';

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
    const count = drafts.filter((draft) => draft.team === team).length;
    world.rows.teamCounter.push({
      workspaceId: world.workspaceId,
      teamId: team.id,
      nextIssueNumber: count + 1,
    });
  }
  return living;
}

function addIssueRows(world: World, record: IssueRecord): void {
  const { draft, comments, assignees } = record;
  const { workspaceId, rows } = world;
  const key = { workspaceId, issueId: record.id };
  const parentIssueId = draft.parent?.id ?? null;
  const isOrphan = draft.parent?.deletedMs !== undefined;
  const living = comments.filter((comment) => comment.deletedMs === undefined);
  rows.issue.push({
    workspaceId,
    id: record.id,
    teamId: draft.team.id,
    number: draft.number,
    title: record.title,
    titleFold: fold(record.title),
    description: draft.description,
    reporterUserAccountId: draft.reporter.userAccountId,
    parentIssueId: isOrphan ? null : parentIssueId,
    deletedParentIssueId: isOrphan ? parentIssueId : null,
    statusId: record.status.id,
    statusRank: record.status.rank,
    priority: record.priority,
    primaryAssigneeUserAccountId: assignees[0]?.userAccountId ?? null,
    projectId: record.project?.id ?? null,
    deliveryId: record.delivery?.id ?? null,
    estimateValue: record.estimate ?? null,
    dueDate: record.dueDate ?? null,
    commentCount: living.length,
    subIssueCount:
      draft.deletedMs === undefined
        ? draft.children.filter((child) => child.deletedMs === undefined).length
        : 0,
    linkCount: record.linkCount,
    activityCount: record.activityCount,
    createdUtc: new Date(draft.createdMs),
    updatedUtc: new Date(record.updatedMs),
    lastActivityUtc: dateOrNull(record.lastActivityMs),
    lastCommentUtc: dateOrNull(living.at(-1)?.createdMs),
    closedUtc: dateOrNull(record.closedMs),
    deletedUtc: dateOrNull(draft.deletedMs),
    revision: record.updateCount + 1,
  });
  for (const [position, { userAccountId }] of assignees.entries())
    rows.issueAssignee.push({ ...key, userAccountId, position });
  for (const label of record.labels) rows.issueLabel.push({ ...key, labelId: label.id });
  for (const { userAccountId } of record.subscribers) rows.issueSubscription.push({ ...key, userAccountId });
  for (const { role, member } of record.roles) {
    rows.issueRoleAssignment.push({ ...key, role, userAccountId: member.userAccountId });
  }
  addComments(world, record);
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
      revision: editedMs === undefined ? 1 : 2,
    });
  }
}

function dateOrNull(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
