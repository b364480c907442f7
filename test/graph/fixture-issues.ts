import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Tables } from '../../src/db/tables/tables.ts';
import { authorType, messageType, previewKind, threadStatus } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { type Fixture, type FixtureRows, isoDate, turn } from './fixture.ts';

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

/** Fills the issues and what belongs to them. Two issues are deleted, one of them a parent with comments. */
export function addIssues(fixture: Fixture): void {
  for (let place = 0; place < issueCount; place += 1) addIssue(fixture, place);
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

function addIssue({ workspaceId, rows, uuid, nowMs, random }: Fixture, place: number): void {
  // Most issues belong to the first team; the others have some each.
  const team = turn(rows.team, place % 3 === 2 ? 1 + (place % 2) : 0);
  const status = turn(
    rows.status.filter(({ teamId }) => teamId === team.id),
    place,
  );
  const title = `${turn(titles, place)}${place < titles.length ? '' : ' again'}`;
  const assignees = random.sample(rows.member, place % 4).map(({ userAccountId }) => userAccountId);
  // Neighbours have the same values in all orders.
  const createdUtc = new Date(nowMs - 500 * hourMs + Math.floor(place / 2) * hourMs);
  const id = uuid();
  rows.issue.push({
    workspaceId,
    id,
    teamId: team.id,
    number: rows.issue.filter(({ teamId }) => teamId === team.id).length + 1,
    title,
    titleFold: fold(title),
    description: place % 5 ? '' : 'What happens.\nWhat should happen.',
    reporterUserAccountId: turn(rows.member, place % 3).userAccountId,
    parentIssueId: place >= 12 && place < 19 ? turn(rows.issue, place % 2).id : null,
    deletedParentIssueId: place === 19 ? turn(rows.issue, 11).id : null,
    statusId: status.id,
    statusRank: status.category * 10_000 + status.position,
    priority: place % 5,
    primaryAssigneeUserAccountId: assignees[0] ?? null,
    projectId: place % 4 === 3 ? null : turn(rows.project, Math.floor(place / 8)).id,
    deliveryId:
      place % 3
        ? null
        : turn(
            rows.delivery.filter(({ teamId }) => teamId === team.id),
            place,
          ).id,
    estimateValue: place % 4 ? place % 7 : null,
    dueDate: place % 3 === 1 ? isoDate(nowMs + Math.floor(place / 6) * 24 * hourMs) : null,
    commentCount: 0,
    subIssueCount: place < 2 ? 4 - place : 0,
    linkCount: 0,
    createdUtc,
    updatedUtc: new Date(createdUtc.getTime() + (place % 3) * hourMs),
    lastActivityUtc: place % 2 ? new Date(nowMs - (place % 4) * hourMs) : null,
    lastCommentUtc: place === 0 ? new Date(nowMs - hourMs) : null,
    startedUtc: place % 3 ? new Date(createdUtc.getTime() + (place % 5) * 1_001) : null,
    stageCount: 1,
    closedUtc: status.isTerminal ? new Date(nowMs - 2 * hourMs) : null,
    deletedUtc: place === 11 || place === 23 ? new Date(nowMs - hourMs) : null,
    revision: place + 1,
  });
  addIssueSets(rows, { workspaceId, issueId: id }, place, assignees);
}

function addIssueSets(
  rows: Fixture['rows'],
  key: { workspaceId: string; issueId: string },
  place: number,
  assignees: readonly string[],
): void {
  // The other assignees are inserted in another order than their positions.
  rows.issueAssignee.push(
    ...assignees.map((userAccountId, index) => ({
      ...key,
      userAccountId,
      position: index && assignees.length - index,
    })),
  );
  const labels = [1, 2, 3, 5].filter((_label, index) => (place >> index) % 2);
  rows.issueLabel.push(...labels.map((label) => ({ ...key, labelId: turn(rows.label, label).id })));
  for (const member of rows.member.slice(0, place % 3)) {
    rows.issueSubscription.push({ ...key, userAccountId: member.userAccountId });
    rows.issueRoleAssignment.push({ ...key, role: 'reviewer', userAccountId: member.userAccountId });
  }
  if (place === 2) {
    rows.issueRoleAssignment.push({
      ...key,
      role: 'author',
      userAccountId: turn(rows.member, 3).userAccountId,
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
  for (const [place, [issue, parent, deleted = false]] of facts.entries()) {
    const replyTo = parent === undefined ? undefined : turn(rows.comment, parent);
    if (!deleted) countOne(turn(rows.issue, issue), 'commentCount');
    const createdUtc = new Date(nowMs - (20 - Math.floor(place / 2)) * hourMs);
    rows.comment.push({
      workspaceId,
      id: uuid(),
      issueId: turn(rows.issue, issue).id,
      parentCommentId: replyTo?.id ?? null,
      parentAuthorUserAccountId: replyTo?.authorUserAccountId ?? null,
      authorUserAccountId: turn(rows.member, place).userAccountId,
      body: place === 2 ? 'One line.\n\nAnother after an empty one.' : `Comment ${place}`,
      isEdited: place % 4 === 1,
      createdUtc,
      updatedUtc: new Date(createdUtc.getTime() + (place % 4 === 1 ? hourMs : 0)),
      deletedUtc: deleted ? new Date(nowMs) : null,
      revision: 1 + (place % 4),
    });
  }
}

function countOne(issue: Fixture['rows']['issue'][number], column: 'commentCount' | 'linkCount'): void {
  issue[column] = (issue[column] ?? 0) + 1;
}

function addLinks({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  for (const [place, issue] of [0, 0, 0, 0, 0, 3, 11].entries()) {
    const deleted = place === 2;
    if (!deleted) countOne(turn(rows.issue, issue), 'linkCount');
    const url = `https://fixture.example/link/${place}`;
    rows.issueLink.push({
      workspaceId,
      id: uuid(),
      issueId: turn(rows.issue, issue).id,
      url,
      urlHash: createHash('sha256').update(url).digest(),
      title: `Link ${place}`,
      createdUtc: new Date(nowMs - (10 - Math.floor(place / 2)) * hourMs),
      createdByUserAccountId: turn(rows.member, place).userAccountId,
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
  for (const [place, contentType] of types.entries()) {
    rows.attachment.push({
      workspaceId,
      id: uuid(),
      issueId: turn(rows.issue, place === 6 ? 11 : 0).id,
      fileName: `File ${place}`,
      contentType,
      sizeBytes: 1000 * place,
      uploadedByUserAccountId: turn(rows.member, place).userAccountId,
      createdUtc: new Date(nowMs - 30 * hourMs),
      // The fifth has not been uploaded yet.
      uploadedUtc: place === 5 ? null : new Date(nowMs - (29 - Math.floor(place / 2)) * hourMs),
      previewKind: previewKind[turn(previews, place)],
      codeLanguage: place === 4 ? 'python' : null,
      deletedUtc: place === 3 ? new Date(nowMs) : null,
    });
  }
}

function addActivity({ workspaceId, rows, uuid, nowMs }: Fixture): void {
  const events = ['issue.updated.v1', 'issue-comment.created.v1', 'issue-link.created.v1'];
  for (const [place, issue] of [0, 0, 0, 0, 0, 1, 11].entries()) {
    const issueId = turn(rows.issue, issue).id;
    rows.activity.push({
      workspaceId,
      issueId,
      sortOrder: rows.activity.filter((entry) => entry.issueId === issueId).length + 1,
      id: uuid(),
      eventType: turn(events, place),
      actorUserAccountId: turn(rows.member, place).userAccountId,
      occurredUtc: new Date(nowMs - (9 - place) * hourMs),
      iconCss: place ? '' : 'icon-edit',
      text: `Event ${place}`,
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
    const thread = makeThread(fixture, turn(rows.issue, issue).id, nowMs - agoMs);
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
  const installation = turn(rows.agentInstallation, 0);
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
  for (let place = 0; place < count; place += 1) {
    const isPrompt = place % 2 === 0;
    rows.agentThreadMessage.push({
      workspaceId: thread.workspaceId,
      id: uuid(),
      threadId: thread.id,
      issueId: thread.issueId,
      sortOrder: place + 1,
      applicationId: thread.applicationId,
      applicationInstallationId: thread.applicationInstallationId,
      agentUserAccountId: thread.agentUserAccountId,
      authorUserAccountId: isPrompt ? turn(rows.member, 0).userAccountId : thread.agentUserAccountId,
      authorType: isPrompt ? authorType.user : authorType.agent,
      messageType: isPrompt ? messageType.prompt : turn([messageType.thought, messageType.action], place),
      turnNumber: 1 + Math.floor(place / 2),
      body: `Message ${place}`,
      replyToMessageId: place ? (rows.agentThreadMessage.at(-1)?.id ?? null) : null,
      followUpActions:
        place === 1 ? JSON.stringify([{ name: 'Go on', key: 'go-on', color: '#00ff00' }]) : undefined,
      createdUtc: new Date(nowMs - (12 - place) * hourMs),
    });
  }
}
