import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Tables } from '../../src/db/tables/tables.ts';
import { authorType, messageType, previewKind, threadStatus } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { type Fixture, type FixtureRows, isoDate, cyclicAt } from './fixture.ts';

const hourMs = 3_600_000;
const issueCount = 24;

const titles = [
  'Crash on start',
  'crash on stärt',
  'Make 100% sure',
  'snake_case',
  'Ωmega',
  'Back\\slash',
  'Tidy',
] as const;

/** Fills the issues and the tables of their objects. Two issues are deleted, one of them a parent with comments. */
export function addIssues(fixture: Fixture): void {
  for (let index = 0; index < issueCount; index += 1) addIssue(fixture, index);
  addComments(fixture);
  addLinks(fixture);
  addAttachments(fixture);
  addActivity(fixture);
  addThreads(fixture);
  count(fixture);
}

/** Sets the stored counts, which writes increase. */
function count({ workspaceId, rows }: Fixture): void {
  for (const { id: teamId } of rows.team) {
    const issues = rows.issue.filter((issue) => issue.teamId === teamId);
    if (issues.length === 0) continue;
    const nextIssueNumber = Math.max(...issues.map(({ number }) => number)) + 1;
    const notDeleted = issues.filter(({ deletedUtc }) => !deletedUtc).length;
    const goneIssueCount = nextIssueNumber - 1 - notDeleted;
    rows.teamCounter.push({ workspaceId, teamId, nextIssueNumber, goneIssueCount });
  }
  for (const issue of rows.issue)
    issue.activityCount = rows.activity.filter(({ issueId }) => issueId === issue.id).length;
  rows.issueStage.push(...rows.issue.map(onlyStage));
  rows.issueText.push(
    ...rows.issue.map(({ workspaceId, id, titleFold }) => ({ workspaceId, issueId: id, titleFold })),
  );
}

/** The only stage of an issue, which has never changed. */
function onlyStage(issue: FixtureRows['issue'][number]): FixtureRows['issueStage'][number] {
  const { workspaceId, id, teamId, statusId, createdUtc } = issue;
  return {
    workspaceId,
    issueId: id,
    sortOrder: 1,
    sinceUtc: createdUtc,
    untilUtc: null,
    teamId,
    statusId,
    deliveryId: issue.deliveryId ?? null,
    projectId: issue.projectId ?? null,
    estimateValue: issue.estimateValue ?? null,
    deleted: issue.deletedUtc != null,
    previousStatusId: null,
    previousDeleted: true,
  };
}

function addIssue({ workspaceId, rows, uuid, nowMs, random }: Fixture, index: number): void {
  // Most issues belong to the first team; the others have some each.
  const team = cyclicAt(rows.team, index % 3 === 2 ? 1 + (index % 2) : 0);
  const status = cyclicAt(
    rows.status.filter(({ teamId }) => teamId === team.id),
    index,
  );
  const title = `${cyclicAt(titles, index)}${index < titles.length ? '' : ' again'}`;
  const assignees = random.sample(rows.member, index % 4).map(({ userAccountId }) => userAccountId);
  // Neighbours have the same values in all orders.
  const createdUtc = new Date(nowMs - 500 * hourMs + Math.floor(index / 2) * hourMs);
  const id = uuid();
  rows.issue.push({
    workspaceId,
    id,
    teamId: team.id,
    number: rows.issue.filter(({ teamId }) => teamId === team.id).length + 1,
    title,
    titleFold: fold(title),
    description: index % 5 ? '' : 'What happens.\nWhat should happen.',
    reporterUserAccountId: cyclicAt(rows.member, index % 3).userAccountId,
    parentIssueId: index >= 12 && index < 19 ? cyclicAt(rows.issue, index % 2).id : null,
    deletedParentIssueId: index === 19 ? cyclicAt(rows.issue, 11).id : null,
    statusId: status.id,
    statusRank: status.category * 10_000 + status.position,
    priority: index % 5,
    primaryAssigneeUserAccountId: assignees[0] ?? null,
    projectId: index % 4 === 3 ? null : cyclicAt(rows.project, Math.floor(index / 8)).id,
    deliveryId:
      index % 3
        ? null
        : cyclicAt(
            rows.delivery.filter(({ teamId }) => teamId === team.id),
            index,
          ).id,
    estimateValue: index % 4 ? index % 7 : null,
    dueDate: index % 3 === 1 ? isoDate(nowMs + Math.floor(index / 6) * 24 * hourMs) : null,
    commentCount: 0,
    subIssueCount: index < 2 ? 4 - index : 0,
    linkCount: 0,
    createdUtc,
    updatedUtc: new Date(createdUtc.getTime() + (index % 3) * hourMs),
    lastActivityUtc: index % 2 ? new Date(nowMs - (index % 4) * hourMs) : null,
    lastCommentUtc: index === 0 ? new Date(nowMs - hourMs) : null,
    startedUtc: index % 3 ? new Date(createdUtc.getTime() + (index % 5) * 1_001) : null,
    stageCount: 1,
    closedUtc: status.isTerminal ? new Date(nowMs - 2 * hourMs) : null,
    deletedUtc: index === 11 || index === 23 ? new Date(nowMs - hourMs) : null,
    revision: index + 1,
  });
  addIssueSets(rows, { workspaceId, issueId: id }, index, assignees);
}

function addIssueSets(
  rows: Fixture['rows'],
  key: { workspaceId: string; issueId: string },
  index: number,
  assignees: readonly string[],
): void {
  // The other assignees are inserted in another order than their positions.
  rows.issueAssignee.push(
    ...assignees.map((userAccountId, rank) => ({
      ...key,
      userAccountId,
      position: rank && assignees.length - rank,
    })),
  );
  const labels = [1, 2, 3, 5].filter((_label, bit) => (index >> bit) % 2);
  rows.issueLabel.push(...labels.map((label) => ({ ...key, labelId: cyclicAt(rows.label, label).id })));
  for (const member of rows.member.slice(0, index % 3)) {
    rows.issueSubscription.push({ ...key, userAccountId: member.userAccountId });
    rows.issueRoleAssignment.push({ ...key, role: 'reviewer', userAccountId: member.userAccountId });
  }
  if (index === 2) {
    rows.issueRoleAssignment.push({
      ...key,
      role: 'author',
      userAccountId: cyclicAt(rows.member, 3).userAccountId,
    });
  }
}

function addComments({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  // The issue of each comment, the comment that it replies to, and whether it is deleted.
  const facts: readonly (readonly [issue: number, parent?: number, deleted?: boolean])[] = [
    [0],
    [0],
    [0, 0],
    [0, 0],
    [0, undefined, true],
    [0, 4],
    [0, 0],
    [1],
    [11],
    [23],
  ];
  for (const [index, [issue, parent, deleted = false]] of facts.entries()) {
    const replyTo = parent === undefined ? undefined : cyclicAt(rows.comment, parent);
    if (!deleted) countOne(cyclicAt(rows.issue, issue), 'commentCount');
    const createdUtc = new Date(nowMs - (20 - Math.floor(index / 2)) * hourMs);
    rows.comment.push({
      workspaceId,
      id: uuid(),
      issueId: cyclicAt(rows.issue, issue).id,
      parentCommentId: replyTo?.id ?? null,
      parentAuthorUserAccountId: replyTo?.authorUserAccountId ?? null,
      authorUserAccountId: cyclicAt(rows.member, index).userAccountId,
      body: index === 2 ? 'One line.\n\nAnother after an empty one.' : `Comment ${index}`,
      isEdited: index % 4 === 1,
      createdUtc,
      updatedUtc: new Date(createdUtc.getTime() + (index % 4 === 1 ? hourMs : 0)),
      deletedUtc: deleted ? new Date(nowMs) : null,
      revision: 1 + (index % 4),
    });
  }
}

function countOne(issue: Fixture['rows']['issue'][number], column: 'commentCount' | 'linkCount'): void {
  issue[column] = (issue[column] ?? 0) + 1;
}

function addLinks({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  for (const [index, issue] of [0, 0, 0, 0, 0, 3, 11].entries()) {
    const deleted = index === 2;
    if (!deleted) countOne(cyclicAt(rows.issue, issue), 'linkCount');
    const url = `https://fixture.example/link/${index}`;
    rows.issueLink.push({
      workspaceId,
      id: uuid(),
      issueId: cyclicAt(rows.issue, issue).id,
      url,
      urlHash: createHash('sha256').update(url).digest(),
      title: `Link ${index}`,
      createdUtc: new Date(nowMs - (10 - Math.floor(index / 2)) * hourMs),
      createdByUserAccountId: cyclicAt(rows.member, index).userAccountId,
      deletedUtc: deleted ? new Date(nowMs) : null,
    });
  }
}

function addAttachments({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  const types = [
    'image/png',
    'text/plain',
    'application/pdf',
    'image/svg+xml',
    'text/x-python',
    'image/png',
    'image/png',
  ];
  const previews = ['image', 'text', 'pdf', 'none', 'code', 'image', 'image'] as const;
  for (const [index, contentType] of types.entries()) {
    rows.attachment.push({
      workspaceId,
      id: uuid(),
      issueId: cyclicAt(rows.issue, index === 6 ? 11 : 0).id,
      fileName: `File ${index}`,
      contentType,
      sizeBytes: 1000 * index,
      uploadedByUserAccountId: cyclicAt(rows.member, index).userAccountId,
      createdUtc: new Date(nowMs - 30 * hourMs),
      // The fifth has not been uploaded yet.
      uploadedUtc: index === 5 ? null : new Date(nowMs - (29 - Math.floor(index / 2)) * hourMs),
      previewKind: previewKind[cyclicAt(previews, index)],
      codeLanguage: index === 4 ? 'python' : null,
      deletedUtc: index === 3 ? new Date(nowMs) : null,
    });
  }
}

function addActivity({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  const events = ['issue.updated.v1', 'issue-comment.created.v1', 'issue-link.created.v1'];
  for (const [index, issue] of [0, 0, 0, 0, 0, 1, 11].entries()) {
    const issueId = cyclicAt(rows.issue, issue).id;
    rows.activity.push({
      workspaceId,
      issueId,
      sortOrder: rows.activity.filter((entry) => entry.issueId === issueId).length + 1,
      id: uuid(),
      eventType: cyclicAt(events, index),
      actorUserAccountId: cyclicAt(rows.member, index).userAccountId,
      occurredUtc: new Date(nowMs - (9 - index) * hourMs),
      iconCss: index ? '' : 'icon-edit',
      text: `Event ${index}`,
    });
  }
}

function addThreads(fixture: Fixture): void {
  const { rows, nowMs } = fixture;
  // The last message of each, and its age. The second thread is stale.
  const facts = [
    { issue: 0, status: 'completed', type: 'response', agoMs: 2 * hourMs, messages: 5 },
    { issue: 1, status: 'pending', type: 'prompt', agoMs: hourMs, messages: 1 },
    { issue: 2, status: 'active', type: 'thought', agoMs: 0, messages: 2 },
    { issue: 11, status: 'failed', type: 'error', agoMs: hourMs, messages: 1 },
  ] as const;
  for (const { issue, status, type, agoMs, messages } of facts) {
    const thread = makeThread(fixture, cyclicAt(rows.issue, issue).id, nowMs - agoMs);
    const isPrompt = type === 'prompt';
    rows.agentThread.push({
      ...thread,
      status: threadStatus[status],
      lastMessageAuthorType: isPrompt ? authorType.user : authorType.agent,
      lastMessageType: messageType[type],
      lastCompletedTurnNumber: status === 'completed' ? 1 : 0,
      messageCount: messages,
    });
    addMessages(fixture, thread, messages);
  }
}

type Thread = Pick<
  Insertable<Tables['agentThread']>,
  'workspaceId' | 'id' | 'issueId' | 'applicationId' | 'applicationInstallationId' | 'agentUserAccountId'
>;

function makeThread({ workspaceId, rows, uuid }: Fixture, issueId: string, lastMs: number) {
  const installation = cyclicAt(rows.agentInstallation, 0);
  return {
    workspaceId,
    id: uuid(),
    issueId,
    applicationId: installation.applicationId,
    applicationInstallationId: installation.id,
    agentUserAccountId: installation.agentUserAccountId,
    currentTurnNumber: 1,
    lastMessagePreview: 'The beginning…',
    lastMessageUtc: new Date(lastMs),
    startedUtc: new Date(lastMs - hourMs),
  };
}

function addMessages({ rows, uuid, nowMs }: Fixture, thread: Thread, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const isPrompt = index % 2 === 0;
    rows.agentThreadMessage.push({
      workspaceId: thread.workspaceId,
      id: uuid(),
      threadId: thread.id,
      issueId: thread.issueId,
      sortOrder: index + 1,
      applicationId: thread.applicationId,
      applicationInstallationId: thread.applicationInstallationId,
      agentUserAccountId: thread.agentUserAccountId,
      authorUserAccountId: isPrompt ? cyclicAt(rows.member, 0).userAccountId : thread.agentUserAccountId,
      authorType: isPrompt ? authorType.user : authorType.agent,
      messageType: isPrompt ? messageType.prompt : cyclicAt([messageType.thought, messageType.action], index),
      turnNumber: 1 + Math.floor(index / 2),
      body: `Message ${index}`,
      replyToMessageId: index ? (rows.agentThreadMessage.at(-1)?.id ?? null) : null,
      followUpActions:
        index === 1 ? JSON.stringify([{ name: 'Go on', key: 'go-on', color: '#00ff00' }]) : undefined,
      createdUtc: new Date(nowMs - (12 - index) * hourMs),
    });
  }
}
