import { limits } from '../../model/limits.ts';
import type { SubIssueFieldsFragment } from '../operations.generated.ts';
import { boolean, code, id, type Shape, shape, text, url } from '../shape.ts';

/** The specification's Sub-issue entry. */
export const subIssue: Shape<SubIssueFieldsFragment> = shape('SubIssue', {
  issueId: id('issue', 'id'),
  issueKey: text(limits.issueKey, 'key'),
  title: text(limits.title, 'title'),
  detailsUrl: url('key', { prefix: '/issues/' }),
  statusId: id('status', 'statusId'),
  statusName: text(limits.name, 'status.name'),
  statusColor: text(limits.color, 'status.color'),
  isCompleted: boolean('status.isTerminal'),
  primaryAssigneeUserAccountId: id('user', 'primaryAssigneeUserAccountId', { ifNull: '' }),
  primaryAssigneeDisplayName: text(limits.name, 'primaryAssignee.displayName', { ifNull: '' }),
  primaryAssigneeAvatarUrl: url('primaryAssignee.avatarUrl', { ifNull: '' }),
  primaryAssigneePrincipalKind: code('PrincipalKind', 'primaryAssignee.principalKind', { ifNull: 'NOBODY' }),
});
