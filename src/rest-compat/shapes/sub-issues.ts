import type { SubIssueFieldsFragment } from '../operations.generated.ts';
import { boolean, code, type Shape, shape, text } from '../shape.ts';

/** The specification's Sub-issue entry. */
export const subIssue: Shape<SubIssueFieldsFragment> = shape('SubIssue', {
  issueId: text((issue) => issue.id),
  issueKey: text((issue) => issue.key),
  title: text((issue) => issue.title),
  detailsUrl: text((issue) => `/issues/${issue.key}`),
  statusId: text((issue) => issue.statusId),
  statusName: text((issue) => issue.status.name),
  statusColor: text((issue) => issue.status.color),
  isCompleted: boolean((issue) => issue.status.isTerminal),
  primaryAssigneeUserAccountId: text((issue) => issue.primaryAssigneeUserAccountId ?? ''),
  primaryAssigneeDisplayName: text((issue) => issue.primaryAssignee?.displayName ?? ''),
  primaryAssigneeAvatarUrl: text((issue) => issue.primaryAssignee?.avatarUrl ?? ''),
  primaryAssigneePrincipalKind: code(
    'PrincipalKind',
    (issue) => issue.primaryAssignee?.principalKind ?? 'NOBODY',
  ),
});
