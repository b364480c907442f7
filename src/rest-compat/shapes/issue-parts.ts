import { limits } from '../../schema/builder/limits.ts';
import type { IssueFieldsFragment } from '../operations.generated.ts';
import { boolean, code, date, id, integer, name, type Shape, shape, text, url } from '../shape.ts';

/** The specification's IssueStatus. */
export const issueStatus: Shape<IssueFieldsFragment['status']> = shape('IssueStatus', {
  statusId: id('status', (status) => status.id),
  id: id('status', (status) => status.id),
  name: text(limits.name, (status) => status.name),
  description: text(limits.description, (status) => status.description),
  color: text(limits.color, (status) => status.color),
  category: name('StatusCategory', (status) => status.category),
  position: integer((status) => status.position),
  isInitial: boolean((status) => status.isInitial),
  isTerminal: boolean((status) => status.isTerminal),
});

/** The specification's ProjectSummary, as it is embedded in an issue. */
export const projectSummary: Shape<NonNullable<IssueFieldsFragment['project']>> = shape('ProjectSummary', {
  projectId: id('project', (project) => project.id),
  id: id('project', (project) => project.id),
  teamId: id('team', (project) => project.teamId),
  name: text(limits.name, (project) => project.name),
  key: text(limits.projectKey, (project) => project.key),
  iconCss: text(limits.iconCss, (project) => project.iconCss),
  color: text(limits.color, (project) => project.color),
});

/** The specification's Delivery. */
export const delivery: Shape<NonNullable<IssueFieldsFragment['delivery']>> = shape('Delivery', {
  deliveryId: id('delivery', (delivery) => delivery.id),
  teamId: id('team', (delivery) => delivery.teamId),
  number: integer((delivery) => delivery.number),
  name: text(limits.name, (delivery) => delivery.name),
  description: text(limits.description, (delivery) => delivery.description),
  startsOn: date((delivery) => delivery.startsOn),
  endsOn: date((delivery) => delivery.endsOn),
  state: name('DeliveryState', (delivery) => delivery.state),
  issueCount: integer((delivery) => delivery.issueCount),
  closedIssueCount: integer((delivery) => delivery.closedIssueCount),
  estimatedScope: integer((delivery) => delivery.estimatedScope),
  closedEstimate: integer((delivery) => delivery.closedEstimate),
  isCurrent: boolean((delivery) => delivery.isCurrent),
  isUpcoming: boolean((delivery) => delivery.isUpcoming),
});

/** The specification's Assignee. */
export const assignee: Shape<IssueFieldsFragment['assignees'][number]> = shape('Assignee', {
  userAccountId: id('user', (member) => member.userAccountId),
  displayName: text(limits.name, (member) => member.displayName),
  avatarUrl: url((member) => member.avatarUrl ?? ''),
  principalKind: code('PrincipalKind', (member) => member.principalKind),
});

/** An element of an issue's `roleAssignments` (docs/contract.md, "Writes"). */
export const roleAssignment: Shape<IssueFieldsFragment['roleAssignments'][number]> = shape('RoleAssignment', {
  role: text(limits.role, (assignment) => assignment.role),
  userAccountId: id('user', (assignment) => assignment.userAccountId),
  displayName: text(limits.name, (assignment) => assignment.displayName),
});

/** The specification's Label. */
export const label: Shape<IssueFieldsFragment['labels'][number]> = shape('Label', {
  labelId: id('label', (label) => label.id),
  id: id('label', (label) => label.id),
  isGroup: boolean((label) => label.isGroup),
  name: text(limits.name, (label) => label.name),
  description: text(limits.description, (label) => label.description),
  color: text(limits.color, (label) => label.color),
  teamId: id('team', (label) => label.teamId ?? ''),
  groupId: id('label', (label) => label.groupId ?? ''),
  groupName: text(limits.name, (label) => label.groupName ?? ''),
});
