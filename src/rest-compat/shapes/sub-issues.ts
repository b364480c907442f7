import { limits } from '../../schema/builder/limits.ts';
import type { SubIssueFieldsFragment } from '../operations.generated.ts';
import { boolean, code, id, type Shape, shape, text, url } from '../shape.ts';

/** The specification's Sub-issue entry. */
export const subIssue: Shape<SubIssueFieldsFragment> = shape('SubIssue', {
  issueId: id('issue', (issue) => issue.id),
  issueKey: text(limits.issueKey, (issue) => issue.key),
  title: text(limits.title, (issue) => issue.title),
  detailsUrl: url((issue) => `/issues/${issue.key}`),
  statusId: id('status', (issue) => issue.statusId),
  statusName: text(limits.name, (issue) => issue.status.name),
  statusColor: text(limits.color, (issue) => issue.status.color),
  isCompleted: boolean((issue) => issue.status.isTerminal),
  primaryAssigneeUserAccountId: id('user', (issue) => issue.primaryAssigneeUserAccountId ?? ''),
  primaryAssigneeDisplayName: text(limits.name, (issue) => issue.primaryAssignee?.displayName ?? ''),
  primaryAssigneeAvatarUrl: url((issue) => issue.primaryAssignee?.avatarUrl ?? ''),
  primaryAssigneePrincipalKind: code(
    'PrincipalKind',
    (issue) => issue.primaryAssignee?.principalKind ?? 'NOBODY',
  ),
});
