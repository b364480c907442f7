import { memberRole } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { onLiving, type Thing, thing, type Things } from './model.ts';
import { codeName, compareBy, idOf, utc } from './values.ts';

type Rows = Things['rows'];

/** Issues and what hangs on them, from their rows; the deleted and what hangs on a deleted issue are left out. */
export function issueThings(things: Things): Thing[] {
  const { rows } = things;
  return [
    ...rows.issue.filter(({ deletedUtc }) => !deletedUtc).map((row) => issue(things, row)),
    ...onLiving(things, rows.comment)
      .filter(({ deletedUtc }) => !deletedUtc)
      .map((row) => comment(things, row)),
    ...onLiving(things, rows.issueLink)
      .filter(({ deletedUtc }) => !deletedUtc)
      .map((row) => issueLink(things, row)),
    ...onLiving(things, rows.attachment)
      .filter(({ deletedUtc, uploadedUtc }) => !deletedUtc && uploadedUtc)
      .map((row) => attachment(things, row)),
    ...onLiving(things, rows.activity).map((row) => activityEntry(things, row)),
  ];
}

function issueKey(things: Things, id: string): string {
  const row = things.rows.issue.find((each) => each.id === id);
  const code = things.rows.team.find((each) => each.id === row?.teamId)?.code;
  return `${code}-${row?.number}`;
}

function issue(things: Things, row: Rows['issue'][number]): Thing {
  const id = idOf('issue', row.id);
  const key = issueKey(things, row.id);
  const reporterUserAccountId = idOf('user', row.reporterUserAccountId);
  const primaryAssigneeUserAccountId = idOf('user', row.primaryAssigneeUserAccountId);
  const { userAccountId, role, scopes } = things.viewer;
  const mayWrite = role !== memberRole.guest && scopes.includes('issues:write');
  const {
    number,
    title,
    description,
    commentCount,
    subIssueCount,
    linkCount,
    estimateValue,
    dueDate,
    revision,
  } = row;
  return thing(
    'Issue',
    {
      id,
      key,
      number,
      title,
      description,
      commentCount,
      subIssueCount,
      linkCount,
      estimateValue,
      dueDate,
      revision,
      ...issueKeys(row),
      reporterUserAccountId,
      primaryAssigneeUserAccountId,
      priority: codeName('priority', row.priority),
      createdUtc: utc(row.createdUtc),
      updatedUtc: utc(row.updatedUtc),
      lastActivityUtc: utc(row.lastActivityUtc),
      lastCommentUtc: utc(row.lastCommentUtc),
      startedUtc: utc(row.startedUtc),
      closedUtc: utc(row.closedUtc),
      cycleTimeSeconds: seconds(row.startedUtc, row.closedUtc),
      leadTimeSeconds: seconds(row.createdUtc, row.closedUtc),
      isSubscribed: things.rows.issueSubscription.some(
        (each) => each.issueId === row.id && each.userAccountId === userAccountId,
      ),
      viewerCanUpdate: mayWrite,
      viewerCanDelete: mayWrite,
      url: `/v1/issues/${key}`,
    },
    {
      reporter: () => things.member(reporterUserAccountId),
      primaryAssignee: () => primaryAssigneeUserAccountId && things.member(primaryAssigneeUserAccountId),
      ...issueReferences(things, row),
      ...issueLists(things, row),
      comments: () => things.where('Comment', 'issueId', id),
      links: () => things.where('IssueLink', 'issueId', id),
      attachments: () => things.where('Attachment', 'issueId', id),
      subIssues: () => things.where('Issue', 'parentIssueId', id),
      activity: () => things.where('ActivityEntry', 'issueId', id),
      agentThread: () => things.where('AgentThread', 'issueId', id)[0] ?? null,
    },
  );
}

function issueKeys(row: Rows['issue'][number]) {
  return {
    teamId: idOf('team', row.teamId),
    statusId: idOf('status', row.statusId),
    projectId: idOf('project', row.projectId),
    deliveryId: idOf('delivery', row.deliveryId),
    parentIssueId: idOf('issue', row.parentIssueId),
  };
}

function issueReferences(things: Things, row: Rows['issue'][number]) {
  const { teamId, statusId, projectId, deliveryId, parentIssueId } = issueKeys(row);
  return {
    team: () => things.find('Team', teamId),
    status: () => things.find('IssueStatus', statusId),
    project: () => things.find('Project', projectId),
    delivery: () => things.find('Delivery', deliveryId),
    parent: () => things.find('Issue', parentIssueId),
  };
}

function issueLists(things: Things, { id, subIssueCount }: Rows['issue'][number]) {
  const places = things.rows.issueAssignee.filter(({ issueId }) => issueId === id);
  const assignees = () =>
    places
      .map(({ userAccountId, position }) => ({
        position,
        member: things.member(idOf('user', userAccountId)) as Thing,
      }))
      .toSorted(compareBy(({ position }) => position))
      .map(({ member }) => member);
  const labels = () =>
    things.rows.issueLabel
      .filter(({ issueId }) => issueId === id)
      .map(({ labelId }) => things.find('Label', idOf('label', labelId)) as Thing)
      .toSorted(
        compareBy(
          (each) => fold(String(each.name)),
          (each) => String(each.id),
        ),
      );
  return {
    assignees,
    labels,
    assigneeUserAccountIds: () => assignees().map((each) => each.userAccountId),
    labelIds: () => labels().map((each) => each.id),
    roleAssignments: () =>
      things.rows.issueRoleAssignment
        .filter(({ issueId }) => issueId === id)
        .map(({ role, userAccountId }) => roleAssignment(things, role, userAccountId))
        .toSorted(
          compareBy(
            (each) => String(each.role),
            (each) => String(each.userAccountId),
          ),
        ),
    subIssuesSummary: () => ({
      total: subIssueCount,
      completed: things
        .where('Issue', 'parentIssueId', idOf('issue', id))
        .filter((each) => (each.status as Thing).isTerminal).length,
    }),
  };
}

function roleAssignment(things: Things, role: string, userAccountId: string): Thing {
  const id = idOf('user', userAccountId);
  return thing(
    'RoleAssignment',
    { role, userAccountId: id },
    {
      displayName: () => things.member(id)?.displayName,
      member: () => things.member(id),
    },
  );
}

function comment(things: Things, row: Rows['comment'][number]): Thing {
  const id = idOf('comment', row.id);
  const issueId = idOf('issue', row.issueId);
  const parentCommentId = idOf('comment', row.parentCommentId);
  const authorUserAccountId = idOf('user', row.authorUserAccountId);
  const { viewer } = things;
  const paragraph = (text: string) => ({ type: 'paragraph', content: text ? [{ type: 'text', text }] : [] });
  return thing(
    'Comment',
    {
      id,
      issueId,
      parentCommentId,
      authorUserAccountId,
      body: { schemaVersion: 1, content: { type: 'doc', content: row.body.split('\n').map(paragraph) } },
      bodyText: row.body,
      canManage: row.authorUserAccountId === viewer.userAccountId || viewer.role <= memberRole.admin,
      isEdited: row.isEdited,
      createdUtc: utc(row.createdUtc),
      updatedUtc: utc(row.updatedUtc),
      revision: row.revision,
    },
    {
      issue: () => things.find('Issue', issueId),
      parent: () => things.find('Comment', parentCommentId),
      parentAuthorDisplayName: () =>
        things.member(idOf('user', row.parentAuthorUserAccountId))?.displayName ?? null,
      author: () => things.member(authorUserAccountId),
      replies: () => things.where('Comment', 'parentCommentId', id),
    },
  );
}

function issueLink(things: Things, row: Rows['issueLink'][number]): Thing {
  const { url, title, revision } = row;
  const issueId = idOf('issue', row.issueId);
  const createdByUserAccountId = idOf('user', row.createdByUserAccountId);
  const own = { id: idOf('link', row.id), issueId, url, title, createdByUserAccountId, revision };
  return thing(
    'IssueLink',
    { ...own, createdUtc: utc(row.createdUtc) },
    {
      issue: () => things.find('Issue', issueId),
      createdBy: () => things.member(createdByUserAccountId),
    },
  );
}

function attachment(things: Things, row: Rows['attachment'][number]): Thing {
  const { fileName, contentType, sizeBytes, codeLanguage, revision } = row;
  const id = idOf('attachment', row.id);
  const issueId = idOf('issue', row.issueId);
  const uploadedByUserAccountId = idOf('user', row.uploadedByUserAccountId);
  const path = `/v1/issues/${issueKey(things, row.issueId)}/attachments/${id}`;
  return thing(
    'Attachment',
    {
      id,
      issueId,
      fileName,
      contentType,
      sizeBytes,
      codeLanguage,
      revision,
      uploadedByUserAccountId,
      uploadedUtc: utc(row.uploadedUtc),
      downloadUrl: `${path}/content`,
      previewUrl: `${path}/preview`,
      previewKind: codeName('previewKind', row.previewKind),
      isPreviewAvailable: row.previewKind > 0,
    },
    { issue: () => things.find('Issue', issueId), uploadedBy: () => things.member(uploadedByUserAccountId) },
  );
}

function activityEntry(things: Things, row: Rows['activity'][number]): Thing {
  const { eventType, sortOrder, iconCss, text } = row;
  const issueId = idOf('issue', row.issueId);
  const actorUserAccountId = idOf('user', row.actorUserAccountId);
  const own = {
    id: idOf('activity', row.id),
    issueId,
    eventType,
    actorUserAccountId,
    sortOrder,
    iconCss,
    text,
  };
  return thing(
    'ActivityEntry',
    { ...own, occurredUtc: utc(row.occurredUtc) },
    {
      issue: () => things.find('Issue', issueId),
      actor: () => things.member(actorUserAccountId),
    },
  );
}

function seconds(since: Date | null, until: Date | null): number | null {
  return since && until ? Math.floor((Number(until) - Number(since)) / 1_000) : null;
}
