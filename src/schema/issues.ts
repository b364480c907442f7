import type { Row } from '../db/tables/tables.ts';
import { memberRole } from '../model/codes.ts';
import { ActivityEntry } from './activity.ts';
import { AgentThread } from './agent-threads.ts';
import { Attachment } from './attachments.ts';
import { builder } from './builder/builder.ts';
import { Comment } from './comments.ts';
import { Delivery } from './deliveries.ts';
import { type Entity, entity } from './builder/entity.ts';
import { via } from './builder/via.ts';
import { issueCard } from './issue-card.ts';
import { dateOrders, storedFilters } from './issue-fields.ts';
import { Label } from './labels.ts';
import { limits } from './builder/limits.ts';
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
/** The order in which the row holds them, too. */
const assigneeOrder = [{ column: 'position', of: 'link' }, { column: 'userAccountId' }] as const;
const labelOrder = [{ column: 'nameFold' }, { column: 'id' }] as const;

export const Issue: Entity<'issue'> = entity('Issue', {
  table: 'issue',
  prefix: 'issue',
  singular: 'issue',
  plural: 'issues',
  description: 'A piece of work of one team, addressed by its key.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  where: { column: 'deletedUtc', isNull: true },
  counter: { table: 'teamCounter', key: 'teamId', column: 'issueCount' },
  orders: {
    CREATED: { column: 'createdUtc', kind: 'time', nullable: false },
    UPDATED: { column: 'updatedUtc', kind: 'time', nullable: false },
    NUMBER: { column: 'number', kind: 'int', nullable: false },
    PRIORITY: { column: 'priorityRank', kind: 'int', nullable: false },
    ...dateOrders(),
    TITLE: { column: 'titleFold', kind: 'text', nullable: false },
    STATUS: { column: 'statusRank', kind: 'int', nullable: false },
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
    closedUtc: f.time('closedUtc'),
  }),
});

const SubIssuesSummary = builder.objectRef<{ id: string; subIssueCount: number }>('SubIssuesSummary');
SubIssuesSummary.implement({
  description: 'How far the sub-issues of an issue are.',
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
      description: 'The number of them in a terminal status.',
    }),
  }),
});

/** As `issueKey` writes it. */
const keyPieces = [{ of: 'team', column: 'code' }, '-', { column: 'number' }] as const;

Issue.implement((t) => ({
  key: t.concatenated({
    type: 'String',
    references: { team: via(Team, 'teamId', ['code']) },
    pieces: keyPieces,
    description: 'The key in upper case that people address it by, such as ENG-42.',
  }),
  ...issueCard(t),
  parentIssueId: t.idOf('issue', 'parentIssueId', {
    nullable: true,
    description: 'The issue that it is a part of.',
  }),
  parent: t.reference(Issue, 'parentIssueId', {
    nullable: true,
    scope: 'issues:read',
    description: 'The issue that it is a part of.',
  }),
  roleAssignments: t.list(RoleAssignment, {
    key: 'issueId',
    orderBy: [{ column: 'role' }, { column: 'userAccountId' }],
    description: `Who has which part in it, besides the assignees; at most ${limits.people}.`,
  }),
  assigneeUserAccountIds: t.listOf(Member, {
    through: assignees,
    orderBy: assigneeOrder,
    prefix: 'user',
    column: 'userAccountId',
    description: `The accounts of its assignees, the primary one first; at most ${limits.people}.`,
  }),
  assignees: t.list(Member, {
    through: assignees,
    orderBy: assigneeOrder,
    description: `Its assignees, the primary one first; at most ${limits.people}.`,
  }),
  labelIds: t.listOf(Label, {
    through: labels,
    orderBy: labelOrder,
    prefix: 'label',
    column: 'id',
    description: `The ids of its labels, by their names; at most ${limits.labels}.`,
  }),
  labels: t.list(Label, {
    through: labels,
    orderBy: labelOrder,
    description: `Its labels, by their names; at most ${limits.labels}.`,
  }),
  isSubscribed: t.exists('issueSubscription', {
    key: 'issueId',
    viewer: 'userAccountId',
    description: 'Does the viewer follow it.',
  }),
  viewerCanUpdate: t.computedForViewer({
    type: 'Boolean',
    columns: [],
    compute: (_row, _references, { principal }) =>
      principal.role !== memberRole.guest && principal.scopes.has('issues:write'),
    description: 'May the viewer change it.',
  }),
  viewerCanDelete: t.computedForViewer({
    type: 'Boolean',
    columns: [],
    compute: (_row, _references, { principal }) =>
      principal.role !== memberRole.guest && principal.scopes.has('issues:write'),
    description: 'May the viewer delete it.',
  }),
  url: t.concatenated({
    type: 'URL',
    references: { team: via(Team, 'teamId', ['code']) },
    pieces: ['/v1/issues/', ...keyPieces],
    description: 'Its path on the REST face.',
  }),
  subIssuesSummary: t.self({
    type: SubIssuesSummary,
    scope: 'issues:read',
    description: 'How far its sub-issues are.',
  }),
  agentThread: t.one(AgentThread, {
    key: 'issueId',
    description: 'Its conversation with the agent; null before the first message.',
  }),
  comments: t.children(Comment, {
    key: 'issueId',
    count: 'commentCount',
    description: 'Its comments, replies included.',
  }),
  links: t.children(IssueLink, { key: 'issueId', count: 'linkCount', description: 'Its links.' }),
  attachments: t.children(Attachment, { key: 'issueId', description: 'Its attachments.' }),
  subIssues: t.children(Issue, {
    key: 'parentIssueId',
    count: 'subIssueCount',
    defaultOrder: { field: 'CREATED', direction: 'asc' },
    description: 'The issues that are parts of it, oldest first when nothing is said.',
  }),
  activity: t.children(ActivityEntry, { key: 'issueId', description: 'What happened to it.' }),
}));
