import type { IssueFieldsFragment } from '../operations.generated.ts';
import { boolean, code, date, integer, name, type Shape, shape, text } from '../shape.ts';

/** The specification's IssueStatus. */
export const issueStatus: Shape<IssueFieldsFragment['status']> = shape('IssueStatus', {
  statusId: text((status) => status.id),
  id: text((status) => status.id),
  name: text((status) => status.name),
  description: text((status) => status.description),
  color: text((status) => status.color),
  category: name('StatusCategory', (status) => status.category),
  position: integer((status) => status.position),
  isInitial: boolean((status) => status.isInitial),
  isTerminal: boolean((status) => status.isTerminal),
});

/** The specification's ProjectSummary, as it is embedded in an issue. */
export const projectSummary: Shape<NonNullable<IssueFieldsFragment['project']>> = shape('ProjectSummary', {
  projectId: text((project) => project.id),
  id: text((project) => project.id),
  teamId: text((project) => project.teamId),
  name: text((project) => project.name),
  key: text((project) => project.key),
  iconCss: text((project) => project.iconCss),
  color: text((project) => project.color),
});

/** The specification's Delivery. */
export const delivery: Shape<NonNullable<IssueFieldsFragment['delivery']>> = shape('Delivery', {
  deliveryId: text((delivery) => delivery.id),
  teamId: text((delivery) => delivery.teamId),
  number: integer((delivery) => delivery.number),
  name: text((delivery) => delivery.name),
  description: text((delivery) => delivery.description),
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
  userAccountId: text((member) => member.userAccountId),
  displayName: text((member) => member.displayName),
  avatarUrl: text((member) => member.avatarUrl ?? ''),
  principalKind: code('PrincipalKind', (member) => member.principalKind),
});

/** An element of an issue's `roleAssignments` (contract.md, "Writes"). */
export const roleAssignment: Shape<IssueFieldsFragment['roleAssignments'][number]> = shape('RoleAssignment', {
  role: text((assignment) => assignment.role),
  userAccountId: text((assignment) => assignment.userAccountId),
  displayName: text((assignment) => assignment.displayName),
});

/** The specification's Label. */
export const label: Shape<IssueFieldsFragment['labels'][number]> = shape('Label', {
  labelId: text((label) => label.id),
  id: text((label) => label.id),
  isGroup: boolean((label) => label.isGroup),
  name: text((label) => label.name),
  description: text((label) => label.description),
  color: text((label) => label.color),
  teamId: text((label) => label.teamId ?? ''),
  groupId: text((label) => label.groupId ?? ''),
  groupName: text((label) => label.groupName ?? ''),
});
