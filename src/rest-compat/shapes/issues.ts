import { limits } from '../../model/limits.ts';
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
import { assignee, delivery, issueStatus, label, projectSummary, roleAssignment } from './issue-summaries.ts';

/** The list of assignees, and the primary assignee, who may come in addition to it. */
const maxAssignees = limits.people + 1;

/** The specification's Issue. */
export const issue: Shape<IssueFieldsFragment> = shape(
  'Issue',
  {
    id: id('issue', 'id'),
    key: text(limits.issueKey, 'key'),
    title: text(limits.title, 'title'),
    description: text(limits.description, 'description'),
    teamId: id('team', 'teamId'),
    teamCode: text(limits.teamCode, 'team.code'),
    teamName: text(limits.name, 'team.name'),
    teamIconCss: text(limits.iconCss, 'team.iconCss'),
    teamColor: text(limits.color, 'team.color'),
    reporterUserAccountId: id('user', 'reporterUserAccountId'),
    reporterDisplayName: text(limits.name, 'reporter.displayName'),
    reporterAvatarUrl: url('reporter.avatarUrl', { ifNull: '' }),
    parentIssueId: nullable(id('issue', 'parentIssueId')),
    statusId: id('status', 'statusId'),
    priority: code('Priority', 'priority'),
    primaryAssigneeUserAccountId: nullable(id('user', 'primaryAssigneeUserAccountId')),
    projectId: nullable(id('project', 'projectId')),
    deliveryId: nullable(id('delivery', 'deliveryId')),
    assigneeUserAccountIds: ids('user', maxAssignees, 'assigneeUserAccountIds'),
    labelIds: ids('label', limits.labels, 'labelIds'),
    status: object(issueStatus, 'status'),
    project: nullable(object(projectSummary, 'project')),
    delivery: nullable(object(delivery, 'delivery')),
    assignees: objects(assignee, maxAssignees, 'assignees'),
    roleAssignments: objects(roleAssignment, limits.people, 'roleAssignments'),
    labels: objects(label, limits.labels, 'labels'),
    commentCount: integer('commentCount'),
    subIssueCount: integer('subIssueCount'),
    linkCount: integer('linkCount'),
    estimateValue: nullable(integer('estimateValue')),
    dueDate: nullable(date('dueDate')),
    createdUtc: timestamp('createdUtc'),
    updatedUtc: timestamp('updatedUtc'),
    lastActivityUtc: nullable(timestamp('lastActivityUtc')),
    lastCommentUtc: nullable(timestamp('lastCommentUtc')),
    closedUtc: nullable(timestamp('closedUtc')),
    isSubscribed: boolean('isSubscribed'),
  },
  'revision',
);
