import type { Row } from '../db/tables/tables.ts';
import { memberRole } from '../model/codes.ts';
import { ActivityEntry } from './activity.ts';
import { AgentThread } from './agent-threads.ts';
import { Attachment } from './attachments.ts';
import { builder } from './builder/builder.ts';
import { Comment } from './comments.ts';
import { Delivery } from './deliveries.ts';
import { type Entity, entity } from './builder/entity.ts';
import { via } from './builder/references.ts';
import { issueRowFields } from './issue-row-fields.ts';
import { storedOrders, storedFilters } from './issue-fields.ts';
import { Label } from './labels.ts';
import { limits } from '../model/limits.ts';
import { IssueLink } from './links.ts';
import { through } from './builder/lists.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { RoleAssignment } from './role-assignments.ts';
import { IssueStatus } from './statuses.ts';
import { Team } from './teams.ts';

const assignees = {
  ...through('issueAssignee', 'issueId', 'userAccountId', 'member', 'userAccountId'),
  stored: 'assigneeUserAccountIds' satisfies keyof Row<'issue'>,
};
const labels = {
  ...through('issueLabel', 'issueId', 'labelId', 'label', 'id'),
  stored: 'labelIds' satisfies keyof Row<'issue'>,
};
/** The arrays in the issue's row have the same orders. */
const assigneeOrder = [{ column: 'position', of: 'link' }, { column: 'userAccountId' }] as const;
const labelOrder = [{ column: 'nameFold' }, { column: 'id' }] as const;

export const Issue: Entity<'issue'> = entity('Issue', {
  table: 'issue',
  prefix: 'issue',
  singular: 'issue',
  plural: 'issues',
  description: 'An issue: a piece of work that belongs to one team.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  where: { column: 'deletedUtc', isNull: true },
  counter: { table: 'teamCounter', key: 'teamId', column: 'issueCount' },
  orders: {
    CREATED: { column: 'createdUtc', kind: 'time', nullable: false },
    UPDATED: { column: 'updatedUtc', kind: 'time', nullable: false },
    NUMBER: { column: 'number', kind: 'int', nullable: false },
    PRIORITY: { column: 'priorityRank', kind: 'int', nullable: false },
    ...storedOrders(),
    TITLE: { column: 'titleFold', kind: 'text', nullable: false },
    STATUS: { column: 'statusRank', kind: 'int', nullable: false },
    STARTED: { column: 'startedUtc', kind: 'time', nullable: true },
    LAST_ACTIVITY: { column: 'lastActivityUtc', kind: 'time', nullable: true },
  },
  defaultOrder: { field: 'CREATED', direction: 'desc' },
  filter: (f) => ({
    id: f.id('issue'),
    number: f.int('number'),
    ...storedFilters(f),
    teamId: f.id('team', 'teamId'),
    team: f.reference(Team, 'teamId'),
    status: f.reference(IssueStatus, 'statusId'),
    project: f.reference(Project, 'projectId'),
    delivery: f.reference(Delivery, 'deliveryId'),
    parentIssueId: f.id('issue', 'parentIssueId'),
    parent: f.reference(Issue, 'parentIssueId'),
    reporterUserAccountId: f.id('user', 'reporterUserAccountId'),
    reporter: f.reference(Member, 'reporterUserAccountId', 'userAccountId'),
    primaryAssigneeUserAccountId: f.id('user', 'primaryAssigneeUserAccountId'),
    primaryAssignee: f.reference(Member, 'primaryAssigneeUserAccountId', 'userAccountId'),
    assignees: f.some(Member, assignees),
    labels: f.some(Label, labels),
    createdUtc: f.time('createdUtc'),
    updatedUtc: f.time('updatedUtc'),
    lastActivityUtc: f.time('lastActivityUtc'),
    lastCommentUtc: f.time('lastCommentUtc'),
    startedUtc: f.time('startedUtc'),
    closedUtc: f.time('closedUtc'),
  }),
});

const SubIssuesSummary = builder.objectRef<{ id: string; subIssueCount: number }>('SubIssuesSummary');
SubIssuesSummary.implement({
  description: 'The progress of the sub-issues of an issue.',
  scope: 'inherited',
  fields: (t) => ({
    total: t.exposeInt('subIssueCount', { description: 'The number of sub-issues.' }),
    completed: t.count(Issue, {
      key: 'parentIssueId',
      filter: {
        column: 'statusId',
        references: 'status',
        by: 'id',
        where: { column: 'isTerminal', is: 'eq', value: true },
      },
      description: 'The number of sub-issues in a terminal status.',
    }),
  }),
});

/** The same form as that of the function `issueKey`. */
const keyPieces = [{ of: 'team', column: 'code' }, '-', { column: 'number' }] as const;

Issue.implement((t) => ({
  key: t.concatenated({
    type: 'String',
    references: { team: via(Team, 'teamId', ['code']) },
    pieces: keyPieces,
    description: 'The key, in upper case, such as ENG-42.',
  }),
  ...issueRowFields(t),
  parentIssueId: t.idOf('issue', 'parentIssueId', {
    nullable: true,
    description: 'The parent issue.',
  }),
  parent: t.reference(Issue, 'parentIssueId', {
    nullable: true,
    scope: 'issues:read',
    description: 'The parent issue.',
  }),
  roleAssignments: t.list(RoleAssignment, {
    key: 'issueId',
    orderBy: [{ column: 'role' }, { column: 'userAccountId' }],
    description: `The members who have a role in the issue, apart from its assignees; at most ${limits.people}.`,
  }),
  assigneeUserAccountIds: t.listOf(Member, {
    through: assignees,
    orderBy: assigneeOrder,
    prefix: 'user',
    column: 'userAccountId',
    description: `The accounts of the assignees, the primary assignee first; at most ${limits.people}.`,
  }),
  assignees: t.list(Member, {
    through: assignees,
    orderBy: assigneeOrder,
    description: `The assignees, the primary assignee first; at most ${limits.people}.`,
  }),
  labelIds: t.listOf(Label, {
    through: labels,
    orderBy: labelOrder,
    prefix: 'label',
    column: 'id',
    description: `The ids of its labels, ordered by name; at most ${limits.labels}.`,
  }),
  labels: t.list(Label, {
    through: labels,
    orderBy: labelOrder,
    description: `The labels of the issue, ordered by name; at most ${limits.labels}.`,
  }),
  isSubscribed: t.exists('issueSubscription', {
    key: 'issueId',
    viewer: 'userAccountId',
    description: 'Whether the viewer follows the issue.',
  }),
  viewerCanUpdate: t.computedForViewer({
    type: 'Boolean',
    columns: [],
    compute: (_row, _references, { principal }) =>
      principal.role !== memberRole.guest && principal.scopes.has('issues:write'),
    description: 'Whether the viewer may change the issue.',
  }),
  viewerCanDelete: t.computedForViewer({
    type: 'Boolean',
    columns: [],
    compute: (_row, _references, { principal }) =>
      principal.role !== memberRole.guest && principal.scopes.has('issues:write'),
    description: 'Whether the viewer may delete the issue.',
  }),
  url: t.concatenated({
    type: 'URL',
    references: { team: via(Team, 'teamId', ['code']) },
    pieces: ['/v1/issues/', ...keyPieces],
    description: 'The path of the issue in the REST API.',
  }),
  subIssuesSummary: t.self({
    type: SubIssuesSummary,
    scope: 'issues:read',
    description: 'The progress of the sub-issues.',
  }),
  agentThread: t.one(AgentThread, {
    key: 'issueId',
    description: 'The conversation with the agent; null before its first message.',
  }),
  comments: t.children(Comment, {
    key: 'issueId',
    count: 'commentCount',
    description: 'The comments on the issue, replies included.',
  }),
  links: t.children(IssueLink, {
    key: 'issueId',
    count: 'linkCount',
    description: 'The links of the issue.',
  }),
  attachments: t.children(Attachment, { key: 'issueId', description: 'The attachments of the issue.' }),
  subIssues: t.children(Issue, {
    key: 'parentIssueId',
    count: 'subIssueCount',
    defaultOrder: { field: 'CREATED', direction: 'asc' },
    description: 'The sub-issues, by default oldest first.',
  }),
  activity: t.children(ActivityEntry, { key: 'issueId', description: 'The activity feed of the issue.' }),
}));
