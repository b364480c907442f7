import { limits } from '../../model/limits.ts';
import type { IssueFieldsFragment } from '../operations.generated.ts';
import { boolean, code, date, id, integer, name, type Shape, shape, text, url } from '../shape.ts';

/** The specification's IssueStatus. */
export const issueStatus: Shape<IssueFieldsFragment['status']> = shape('IssueStatus', {
  statusId: id('status', 'id'),
  id: id('status', 'id'),
  name: text(limits.name, 'name'),
  description: text(limits.description, 'description'),
  color: text(limits.color, 'color'),
  category: name('StatusCategory', 'category'),
  position: integer('position'),
  isInitial: boolean('isInitial'),
  isTerminal: boolean('isTerminal'),
});

/** The specification's ProjectSummary, as it is embedded in an issue. */
export const projectSummary: Shape<NonNullable<IssueFieldsFragment['project']>> = shape('ProjectSummary', {
  projectId: id('project', 'id'),
  id: id('project', 'id'),
  teamId: id('team', 'teamId'),
  name: text(limits.name, 'name'),
  key: text(limits.projectKey, 'key'),
  iconCss: text(limits.iconCss, 'iconCss'),
  color: text(limits.color, 'color'),
});

/** The specification's Delivery. */
export const delivery: Shape<NonNullable<IssueFieldsFragment['delivery']>> = shape('Delivery', {
  deliveryId: id('delivery', 'id'),
  teamId: id('team', 'teamId'),
  number: integer('number'),
  name: text(limits.name, 'name'),
  description: text(limits.description, 'description'),
  startsOn: date('startsOn'),
  endsOn: date('endsOn'),
  state: name('DeliveryState', 'state'),
  issueCount: integer('issueCount'),
  closedIssueCount: integer('closedIssueCount'),
  estimatedScope: integer('estimatedScope'),
  closedEstimate: integer('closedEstimate'),
  isCurrent: boolean('isCurrent'),
  isUpcoming: boolean('isUpcoming'),
});

/** The specification's Assignee. */
export const assignee: Shape<IssueFieldsFragment['assignees'][number]> = shape('Assignee', {
  userAccountId: id('user', 'userAccountId'),
  displayName: text(limits.name, 'displayName'),
  avatarUrl: url('avatarUrl', { ifNull: '' }),
  principalKind: code('PrincipalKind', 'principalKind'),
});

/** An element of an issue's `roleAssignments` (docs/contract.md, "Writes"). */
export const roleAssignment: Shape<IssueFieldsFragment['roleAssignments'][number]> = shape('RoleAssignment', {
  role: text(limits.role, 'role'),
  userAccountId: id('user', 'userAccountId'),
  displayName: text(limits.name, 'displayName'),
});

/** The specification's Label. */
export const label: Shape<IssueFieldsFragment['labels'][number]> = shape('Label', {
  labelId: id('label', 'id'),
  id: id('label', 'id'),
  isGroup: boolean('isGroup'),
  name: text(limits.name, 'name'),
  description: text(limits.description, 'description'),
  color: text(limits.color, 'color'),
  teamId: id('team', 'teamId', { ifNull: '' }),
  groupId: id('label', 'groupId', { ifNull: '' }),
  groupName: text(limits.name, 'groupName', { ifNull: '' }),
});
