import { limits } from '../../schema/builder/limits.ts';
import { change, clears, creation, required, set } from '../body.ts';
import { issueWords } from '../issue-words.ts';
import { IssueCreateDocument, IssueDeleteDocument, IssueUpdateDocument } from '../operations.generated.ts';
import { ifMatch } from '../params.ts';
import { createdAt, item, noContent } from '../reply.ts';
import { route } from '../route.ts';
import { issue } from '../shapes/issues.ts';
import { id } from '../values.ts';
import { issueKey } from './issue-key.ts';

const { title, description, priority, projectId, estimateValue, dueDate } = issueWords;
const labelIds = set(
  id('label', 'A label of the workspace or of the team.'),
  `All its labels, at most ${limits.labels} different ones.`,
  limits.labels,
);

/** POST /v1/issues */
export const issueCreate = route({
  method: 'POST',
  path: '/v1/issues',
  scope: 'issues:write',
  summary: 'Creates an issue.',
  parameters: {},
  body: creation({
    teamId: required(id('team', 'The team that owns it.')),
    parentIssueId: id('issue', 'The issue that it is a part of.'),
    projectId,
    deliveryId: id('delivery', 'The delivery of the team that it is planned for.'),
    title: required(title),
    description: required(description),
    initialStatusId: id('status', 'The status that it begins in; the initial one of the team when left out.'),
    priority: required(priority),
    estimateValue,
    primaryAssigneeUserAccountId: id('user', 'The account that answers for it.'),
    labelIds,
  }),
  operation: IssueCreateDocument,
  variables: (_p, { initialStatusId, ...fields }) => ({ input: { ...fields, statusId: initialStatusId } }),
  pick: (data) => data.issueCreate.issue,
  reply: createdAt(issue, { path: '/v1/issues/{issueKey}', namedAt: '/key' }),
  names: { statusId: 'initialStatusId' },
});

/** PATCH /v1/issues/{issueKey} */
export const issueUpdate = route({
  method: 'PATCH',
  path: '/v1/issues/{issueKey}',
  scope: 'issues:write',
  summary: 'Changes the fields of an issue that are given.',
  parameters: { issueKey, ...ifMatch },
  body: change({
    title,
    description,
    issueStatusId: id('status', 'The status of the team that it comes to.'),
    priority,
    primaryAssigneeUserAccountId: id('user', 'The account that answers for it.'),
    clearPrimaryAssignee: clears('primaryAssigneeUserAccountId', 'Nobody answers for it any more.'),
    projectId,
    clearProject: clears('projectId', 'It belongs to no project any more.'),
    deliveryId: id('delivery', 'The delivery of the team that it is planned for.'),
    clearDelivery: clears('deliveryId', 'It is planned for no delivery any more.'),
    estimateValue,
    clearEstimate: clears('estimateValue', 'It has no estimate any more.'),
    dueDate,
    clearDueDate: clears('dueDate', 'It has no due date any more.'),
    labelIds,
  }),
  operation: IssueUpdateDocument,
  variables: (p, { issueStatusId, ...fields }) => ({
    input: { key: p.issueKey, expectedRevision: p['If-Match'], ...fields, statusId: issueStatusId },
  }),
  pick: (data) => data.issueUpdate.issue,
  reply: item(issue),
  names: { statusId: 'issueStatusId' },
});

/** DELETE /v1/issues/{issueKey} */
export const issueDelete = route({
  method: 'DELETE',
  path: '/v1/issues/{issueKey}',
  scope: 'issues:write',
  summary: 'Deletes an issue; its sub-issues stay, without a parent.',
  parameters: { issueKey, ...ifMatch },
  operation: IssueDeleteDocument,
  variables: (p) => ({ input: { key: p.issueKey, expectedRevision: p['If-Match'] } }),
  pick: (data) => data.issueDelete,
  reply: noContent(),
});
