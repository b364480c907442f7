import { memberRole } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { ofNotDeletedIssues, type ModelObject, modelObject, type Model } from './model.ts';
import { codeName, compareBy, idOf, utc } from './values.ts';

type Rows = Model['rows'];

/** Issues and what belongs to them, from their rows, without deleted objects and what belongs to deleted issues. */
export function issueObjects(model: Model): ModelObject[] {
  const { rows } = model;
  return [
    ...rows.issue.filter(({ deletedUtc }) => !deletedUtc).map((row) => issue(model, row)),
    ...ofNotDeletedIssues(model, rows.comment)
      .filter(({ deletedUtc }) => !deletedUtc)
      .map((row) => comment(model, row)),
    ...ofNotDeletedIssues(model, rows.issueLink)
      .filter(({ deletedUtc }) => !deletedUtc)
      .map((row) => issueLink(model, row)),
    ...ofNotDeletedIssues(model, rows.attachment)
      .filter(({ deletedUtc, uploadedUtc }) => !deletedUtc && uploadedUtc)
      .map((row) => attachment(model, row)),
    ...ofNotDeletedIssues(model, rows.activity).map((row) => activityEntry(model, row)),
  ];
}

function issueKey(model: Model, id: string): string {
  const row = model.rows.issue.find((each) => each.id === id);
  const code = model.rows.team.find((each) => each.id === row?.teamId)?.code;
  return `${code}-${row?.number}`;
}

function issue(model: Model, row: Rows['issue'][number]): ModelObject {
  const id = idOf('issue', row.id);
  const key = issueKey(model, row.id);
  const reporterUserAccountId = idOf('user', row.reporterUserAccountId);
  const primaryAssigneeUserAccountId = idOf('user', row.primaryAssigneeUserAccountId);
  const { userAccountId, role, scopes } = model.viewer;
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
  return modelObject(
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
      isSubscribed: model.rows.issueSubscription.some(
        (each) => each.issueId === row.id && each.userAccountId === userAccountId,
      ),
      viewerCanUpdate: mayWrite,
      viewerCanDelete: mayWrite,
      url: `/v1/issues/${key}`,
    },
    {
      reporter: () => model.member(reporterUserAccountId),
      primaryAssignee: () => primaryAssigneeUserAccountId && model.member(primaryAssigneeUserAccountId),
      ...issueReferences(model, row),
      ...issueLists(model, row),
      comments: () => model.where('Comment', 'issueId', id),
      links: () => model.where('IssueLink', 'issueId', id),
      attachments: () => model.where('Attachment', 'issueId', id),
      subIssues: () => model.where('Issue', 'parentIssueId', id),
      activity: () => model.where('ActivityEntry', 'issueId', id),
      agentThread: () => model.where('AgentThread', 'issueId', id)[0] ?? null,
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

function issueReferences(model: Model, row: Rows['issue'][number]) {
  const { teamId, statusId, projectId, deliveryId, parentIssueId } = issueKeys(row);
  return {
    team: () => model.find('Team', teamId),
    status: () => model.find('IssueStatus', statusId),
    project: () => model.find('Project', projectId),
    delivery: () => model.find('Delivery', deliveryId),
    parent: () => model.find('Issue', parentIssueId),
  };
}

function issueLists(model: Model, { id, subIssueCount }: Rows['issue'][number]) {
  const places = model.rows.issueAssignee.filter(({ issueId }) => issueId === id);
  const assignees = () =>
    places
      .map(({ userAccountId, position }) => ({
        position,
        member: model.member(idOf('user', userAccountId)) as ModelObject,
      }))
      .toSorted(compareBy(({ position }) => position))
      .map(({ member }) => member);
  const labels = () =>
    model.rows.issueLabel
      .filter(({ issueId }) => issueId === id)
      .map(({ labelId }) => model.find('Label', idOf('label', labelId)) as ModelObject)
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
      model.rows.issueRoleAssignment
        .filter(({ issueId }) => issueId === id)
        .map(({ role, userAccountId }) => roleAssignment(model, role, userAccountId))
        .toSorted(
          compareBy(
            (each) => String(each.role),
            (each) => String(each.userAccountId),
          ),
        ),
    subIssuesSummary: () => ({
      total: subIssueCount,
      completed: model
        .where('Issue', 'parentIssueId', idOf('issue', id))
        .filter((each) => (each.status as ModelObject).isTerminal).length,
    }),
  };
}

function roleAssignment(model: Model, role: string, userAccountId: string): ModelObject {
  const id = idOf('user', userAccountId);
  return modelObject(
    'RoleAssignment',
    { role, userAccountId: id },
    {
      displayName: () => model.member(id)?.displayName,
      member: () => model.member(id),
    },
  );
}

function comment(model: Model, row: Rows['comment'][number]): ModelObject {
  const id = idOf('comment', row.id);
  const issueId = idOf('issue', row.issueId);
  const parentCommentId = idOf('comment', row.parentCommentId);
  const authorUserAccountId = idOf('user', row.authorUserAccountId);
  const { viewer } = model;
  const paragraph = (text: string) => ({ type: 'paragraph', content: text ? [{ type: 'text', text }] : [] });
  return modelObject(
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
      issue: () => model.find('Issue', issueId),
      parent: () => model.find('Comment', parentCommentId),
      parentAuthorDisplayName: () =>
        model.member(idOf('user', row.parentAuthorUserAccountId))?.displayName ?? null,
      author: () => model.member(authorUserAccountId),
      replies: () => model.where('Comment', 'parentCommentId', id),
    },
  );
}

function issueLink(model: Model, row: Rows['issueLink'][number]): ModelObject {
  const { url, title, revision } = row;
  const issueId = idOf('issue', row.issueId);
  const createdByUserAccountId = idOf('user', row.createdByUserAccountId);
  const own = { id: idOf('link', row.id), issueId, url, title, createdByUserAccountId, revision };
  return modelObject(
    'IssueLink',
    { ...own, createdUtc: utc(row.createdUtc) },
    {
      issue: () => model.find('Issue', issueId),
      createdBy: () => model.member(createdByUserAccountId),
    },
  );
}

function attachment(model: Model, row: Rows['attachment'][number]): ModelObject {
  const { fileName, contentType, sizeBytes, codeLanguage, revision } = row;
  const id = idOf('attachment', row.id);
  const issueId = idOf('issue', row.issueId);
  const uploadedByUserAccountId = idOf('user', row.uploadedByUserAccountId);
  const path = `/v1/issues/${issueKey(model, row.issueId)}/attachments/${id}`;
  return modelObject(
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
    { issue: () => model.find('Issue', issueId), uploadedBy: () => model.member(uploadedByUserAccountId) },
  );
}

function activityEntry(model: Model, row: Rows['activity'][number]): ModelObject {
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
  return modelObject(
    'ActivityEntry',
    { ...own, occurredUtc: utc(row.occurredUtc) },
    {
      issue: () => model.find('Issue', issueId),
      actor: () => model.member(actorUserAccountId),
    },
  );
}

function seconds(since: Date | null, until: Date | null): number | null {
  return since && until ? Math.floor((Number(until) - Number(since)) / 1_000) : null;
}
