import { limits } from '../../model/limits.ts';
import { bodyOf, changeOf, clears, required, set } from '../body.ts';
import { issueBodyFields } from '../issue-body-fields.ts';
import { IssueCreateDocument, IssueDeleteDocument, IssueUpdateDocument } from '../operations.generated.ts';
import { ifMatch } from '../params.ts';
import { createdAt, item, noContent } from '../replies.ts';
import { route } from '../route.ts';
import { issue } from '../shapes/issues.ts';
import { id } from '../values.ts';
import { issueKey } from './issue-key.ts';

const { title, description, priority, projectId, estimateValue, dueDate } = issueBodyFields;
const labelIds = set(
  id('label', 'A label of the workspace or of the team.'),
  `All labels of the issue, at most ${limits.labels} different ones.`,
  limits.labels,
);

/** POST /v1/issues */
export const issueCreate = route({
  method: 'POST',
  path: '/v1/issues',
  scope: 'issues:write',
  summary: 'Creates an issue.',
  parameters: {},
  body: bodyOf({
    teamId: required(id('team', 'The team of the issue.')),
    parentIssueId: id('issue', 'The parent issue.'),
    projectId,
    deliveryId: id('delivery', 'The delivery, which must belong to the team.'),
    title: required(title),
    description: required(description),
    initialStatusId: id('status', 'The first status; the initial status of the team by default.'),
    priority: required(priority),
    estimateValue,
    primaryAssigneeUserAccountId: id('user', 'The account of the primary assignee.'),
    labelIds,
  }),
  operation: IssueCreateDocument,
  variables: (_p, { initialStatusId, ...fields }) => ({ input: { ...fields, statusId: initialStatusId } }),
  pick: 'issueCreate.issue',
  reply: createdAt(issue, { path: '/v1/issues/{issueKey}', parameterValuePath: 'key' }),
  restNames: { statusId: 'initialStatusId' },
});

/** PATCH /v1/issues/{issueKey} */
export const issueUpdate = route({
  method: 'PATCH',
  path: '/v1/issues/{issueKey}',
  scope: 'issues:write',
  summary: 'Changes the fields of an issue that are sent.',
  parameters: { issueKey, ...ifMatch },
  body: changeOf({
    title,
    description,
    issueStatusId: id('status', 'The new status, which must belong to the team.'),
    priority,
    primaryAssigneeUserAccountId: id('user', 'The account of the primary assignee.'),
    clearPrimaryAssignee: clears('primaryAssigneeUserAccountId', 'Removes the primary assignee.'),
    projectId,
    clearProject: clears('projectId', 'Removes the issue from its project.'),
    deliveryId: id('delivery', 'The delivery, which must belong to the team.'),
    clearDelivery: clears('deliveryId', 'Removes the issue from its delivery.'),
    estimateValue,
    clearEstimate: clears('estimateValue', 'Removes the estimate.'),
    dueDate,
    clearDueDate: clears('dueDate', 'Removes the due date.'),
    labelIds,
  }),
  operation: IssueUpdateDocument,
  variables: (p, { issueStatusId, ...fields }) => ({
    input: { key: p.issueKey, expectedRevision: p['If-Match'], ...fields, statusId: issueStatusId },
  }),
  pick: 'issueUpdate.issue',
  reply: item(issue),
  restNames: { statusId: 'issueStatusId' },
});

/** DELETE /v1/issues/{issueKey} */
export const issueDelete = route({
  method: 'DELETE',
  path: '/v1/issues/{issueKey}',
  scope: 'issues:write',
  summary: 'Deletes an issue. Its sub-issues stay, without a parent.',
  parameters: { issueKey, ...ifMatch },
  operation: IssueDeleteDocument,
  variables: (p) => ({ input: { key: p.issueKey, expectedRevision: p['If-Match'] } }),
  pick: 'issueDelete',
  reply: noContent(),
});
