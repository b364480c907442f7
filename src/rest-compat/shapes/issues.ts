import { limits } from '../../schema/builder/limits.ts';
import type { IssueFieldsFragment } from '../operations.generated.ts';
import {
  boolean,
  code,
  date,
  id,
  ids,
  integer,
  nullable,
  object,
  objects,
  type Shape,
  shape,
  text,
  timestamp,
  url,
} from '../shape.ts';
import { assignee, delivery, issueStatus, label, projectSummary, roleAssignment } from './issue-parts.ts';

/** A list of them, and one who answers for it. */
const mostAssignees = limits.people + 1;

/** The specification's Issue. */
export const issue: Shape<IssueFieldsFragment> = shape(
  'Issue',
  {
    id: id('issue', (issue) => issue.id),
    key: text(limits.issueKey, (issue) => issue.key),
    title: text(limits.title, (issue) => issue.title),
    description: text(limits.description, (issue) => issue.description),
    teamId: id('team', (issue) => issue.teamId),
    teamCode: text(limits.teamCode, (issue) => issue.team.code),
    teamName: text(limits.name, (issue) => issue.team.name),
    teamIconCss: text(limits.iconCss, (issue) => issue.team.iconCss),
    teamColor: text(limits.color, (issue) => issue.team.color),
    reporterUserAccountId: id('user', (issue) => issue.reporterUserAccountId),
    reporterDisplayName: text(limits.name, (issue) => issue.reporter.displayName),
    reporterAvatarUrl: url((issue) => issue.reporter.avatarUrl ?? ''),
    parentIssueId: nullable(id('issue', (issue) => issue.parentIssueId)),
    statusId: id('status', (issue) => issue.statusId),
    priority: code('Priority', (issue) => issue.priority),
    primaryAssigneeUserAccountId: nullable(id('user', (issue) => issue.primaryAssigneeUserAccountId)),
    projectId: nullable(id('project', (issue) => issue.projectId)),
    deliveryId: nullable(id('delivery', (issue) => issue.deliveryId)),
    assigneeUserAccountIds: ids('user', mostAssignees, (issue) => issue.assigneeUserAccountIds),
    labelIds: ids('label', limits.labels, (issue) => issue.labelIds),
    status: object(issueStatus, (issue) => issue.status),
    project: nullable(object(projectSummary, (issue) => issue.project)),
    delivery: nullable(object(delivery, (issue) => issue.delivery)),
    assignees: objects(assignee, mostAssignees, (issue) => issue.assignees),
    roleAssignments: objects(roleAssignment, limits.people, (issue) => issue.roleAssignments),
    labels: objects(label, limits.labels, (issue) => issue.labels),
    commentCount: integer((issue) => issue.commentCount),
    subIssueCount: integer((issue) => issue.subIssueCount),
    linkCount: integer((issue) => issue.linkCount),
    estimateValue: nullable(integer((issue) => issue.estimateValue)),
    dueDate: nullable(date((issue) => issue.dueDate)),
    createdUtc: timestamp((issue) => issue.createdUtc),
    updatedUtc: timestamp((issue) => issue.updatedUtc),
    lastActivityUtc: nullable(timestamp((issue) => issue.lastActivityUtc)),
    lastCommentUtc: nullable(timestamp((issue) => issue.lastCommentUtc)),
    closedUtc: nullable(timestamp((issue) => issue.closedUtc)),
    isSubscribed: boolean((issue) => issue.isSubscribed),
  },
  (issue) => issue.revision,
);
