import { typeId } from '../type-id.ts';
import { connectionType, pageOf, priorities, Priority, rowType } from './builder.ts';
import type { Row } from './database.ts';
import { IssueFilter, IssueOrder } from './inputs.ts';
import { richText } from './rich-text.ts';

export const Team = rowType('Team');
export const Project = rowType('Project');
export const Issue = rowType('Issue');
export const Comment = rowType('Comment');
const Member = rowType('Member');
const IssueStatus = rowType('IssueStatus');
const Delivery = rowType('Delivery');
const Label = rowType('Label');
const RoleAssignment = rowType('RoleAssignment');

export const TeamConnection = connectionType('Team', Team);
const ProjectConnection = connectionType('Project', Project);
export const IssueConnection = connectionType('Issue', Issue);
export const CommentConnection = connectionType('Comment', Comment);

const statusCategories = ['', 'BACKLOG', 'OPEN', 'ACTIVE', 'COMPLETED', 'CANCELED'];
const deliveryStates = ['', 'PLANNED', 'ACTIVE', 'COMPLETED'];
const principalKinds = ['NOBODY', 'USER', 'AGENT', 'SERVICE'];

const id =
  (prefix: string, column = 'id') =>
  (row: Row) =>
    typeId(prefix, row[column]);
const idOrNull = (prefix: string, column: string) => (row: Row) =>
  row[column] ? typeId(prefix, row[column]) : null;

Team.implement({
  fields: (t) => ({
    id: t.id({ resolve: id('team') }),
    code: t.exposeString('code'),
    name: t.exposeString('name'),
    iconCss: t.exposeString('icon_css'),
    color: t.exposeString('color'),
    lead: t.field({
      type: Member,
      nullable: true,
      resolve: (team, _, { loaders }) =>
        team['lead_user_account_id'] && loaders.member.load(team['lead_user_account_id']),
    }),
    projects: t.field({
      type: ProjectConnection,
      args: { first: t.arg.int({ defaultValue: 50 }) },
      resolve: async (team, { first }, { loaders }) => {
        const limit = first ?? 50;
        const found = await loaders.projectsOfTeam({ first: limit + 1 }).load(team['id']);
        return pageOf(found, limit, () => loaders.projectTotals.load(team['id']));
      },
    }),
    issues: t.field({
      type: IssueConnection,
      args: {
        first: t.arg.int({ defaultValue: 50 }),
        filter: t.arg({ type: IssueFilter }),
        orderBy: t.arg({ type: IssueOrder }),
      },
      resolve: async (team, { first, filter, orderBy }, { loaders }) => {
        const limit = first ?? 50;
        const openOnly = filter?.status?.isTerminal?.eq === false;
        const updatedFirst = orderBy?.field === 'UPDATED';
        const found = await loaders
          .issuesOfTeam({ first: limit + 1, openOnly, updatedFirst })
          .load(team['id']);
        return pageOf(found, limit, () =>
          (openOnly ? loaders.openIssueTotals : loaders.issueTotals).load(team['id']),
        );
      },
    }),
  }),
});

Project.implement({
  fields: (t) => ({
    id: t.id({ resolve: id('project') }),
    teamId: t.id({ resolve: id('team', 'team_id') }),
    key: t.exposeString('key'),
    name: t.exposeString('name'),
    iconCss: t.exposeString('icon_css'),
    color: t.exposeString('color'),
    progressPercent: t.int({
      resolve: async (project, _, { loaders }) => {
        const [counts] = await loaders.projectCounts.load(project['id']);
        return counts && counts['issues'] > 0
          ? Math.round((counts['completed'] / counts['issues']) * 100)
          : 0;
      },
    }),
  }),
});

Member.implement({
  fields: (t) => ({
    userAccountId: t.id({ resolve: id('user', 'user_account_id') }),
    displayName: t.exposeString('display_name'),
    avatarUrl: t.exposeString('avatar_url', { nullable: true }),
    principalKind: t.string({ resolve: (member) => principalKinds[member['principal_kind']] ?? '' }),
  }),
});

IssueStatus.implement({
  fields: (t) => ({
    id: t.id({ resolve: id('status') }),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    color: t.exposeString('color'),
    category: t.string({ resolve: (status) => statusCategories[status['category']] ?? '' }),
    position: t.exposeInt('position'),
    isInitial: t.exposeBoolean('is_initial'),
    isTerminal: t.exposeBoolean('is_terminal'),
  }),
});

const today = () => new Date().toISOString().slice(0, 10);

Delivery.implement({
  fields: (t) => {
    const count = (column: string) =>
      t.int({
        resolve: async (delivery, _, { loaders }) =>
          (await loaders.deliveryCounts.load(delivery['id']))[0]?.[column] ?? 0,
      });
    return {
      id: t.id({ resolve: id('delivery') }),
      teamId: t.id({ resolve: id('team', 'team_id') }),
      number: t.exposeInt('number'),
      name: t.exposeString('name'),
      description: t.exposeString('description'),
      startsOn: t.expose('starts_on', { type: 'Date' }),
      endsOn: t.expose('ends_on', { type: 'Date' }),
      state: t.string({ resolve: (delivery) => deliveryStates[delivery['state']] ?? '' }),
      issueCount: count('issues'),
      closedIssueCount: count('closed'),
      estimatedScope: count('scope'),
      closedEstimate: count('closed_scope'),
      isCurrent: t.boolean({
        resolve: (delivery) => delivery['starts_on'] <= today() && today() <= delivery['ends_on'],
      }),
      isUpcoming: t.boolean({ resolve: (delivery) => delivery['starts_on'] > today() }),
    };
  },
});

Label.implement({
  fields: (t) => ({
    id: t.id({ resolve: id('label') }),
    isGroup: t.exposeBoolean('is_group'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    color: t.exposeString('color'),
    teamId: t.id({ nullable: true, resolve: idOrNull('team', 'team_id') }),
    groupId: t.id({ nullable: true, resolve: idOrNull('label', 'group_id') }),
    groupName: t.string({
      nullable: true,
      resolve: async (label, _, { loaders }) =>
        label['group_id'] ? (await loaders.label.load(label['group_id']))['name'] : null,
    }),
  }),
});

RoleAssignment.implement({
  fields: (t) => ({
    role: t.exposeString('role'),
    userAccountId: t.id({ resolve: id('user', 'user_account_id') }),
    displayName: t.string({
      resolve: async (assignment, _, { loaders }) =>
        (await loaders.member.load(assignment['user_account_id']))['display_name'],
    }),
  }),
});

Issue.implement({
  fields: (t) => ({
    id: t.id({ resolve: id('issue') }),
    key: t.string({
      resolve: async (issue, _, { loaders }) =>
        `${(await loaders.team.load(issue['team_id']))['code']}-${issue['number']}`,
    }),
    title: t.exposeString('title'),
    description: t.exposeString('description'),
    teamId: t.id({ resolve: id('team', 'team_id') }),
    team: t.field({ type: Team, resolve: (issue, _, { loaders }) => loaders.team.load(issue['team_id']) }),
    reporterUserAccountId: t.id({ resolve: id('user', 'reporter_user_account_id') }),
    reporter: t.field({
      type: Member,
      resolve: (issue, _, { loaders }) => loaders.member.load(issue['reporter_user_account_id']),
    }),
    parentIssueId: t.id({ nullable: true, resolve: idOrNull('issue', 'parent_issue_id') }),
    statusId: t.id({ resolve: id('status', 'status_id') }),
    status: t.field({
      type: IssueStatus,
      resolve: (issue, _, { loaders }) => loaders.status.load(issue['status_id']),
    }),
    priority: t.field({ type: Priority, resolve: (issue) => priorities[issue['priority']] ?? 'NONE' }),
    primaryAssigneeUserAccountId: t.id({
      nullable: true,
      resolve: idOrNull('user', 'primary_assignee_user_account_id'),
    }),
    primaryAssignee: t.field({
      type: Member,
      nullable: true,
      resolve: (issue, _, { loaders }) =>
        issue['primary_assignee_user_account_id'] &&
        loaders.member.load(issue['primary_assignee_user_account_id']),
    }),
    projectId: t.id({ nullable: true, resolve: idOrNull('project', 'project_id') }),
    project: t.field({
      type: Project,
      nullable: true,
      resolve: (issue, _, { loaders }) => issue['project_id'] && loaders.project.load(issue['project_id']),
    }),
    deliveryId: t.id({ nullable: true, resolve: idOrNull('delivery', 'delivery_id') }),
    delivery: t.field({
      type: Delivery,
      nullable: true,
      resolve: (issue, _, { loaders }) => issue['delivery_id'] && loaders.delivery.load(issue['delivery_id']),
    }),
    assigneeUserAccountIds: t.idList({
      resolve: async (issue, _, { loaders }) =>
        (await loaders.assignees.load(issue['id'])).map(id('user', 'user_account_id')),
    }),
    assignees: t.field({
      type: [Member],
      resolve: (issue, _, { loaders }) => loaders.assignees.load(issue['id']),
    }),
    labelIds: t.idList({
      resolve: async (issue, _, { loaders }) => (await loaders.labels.load(issue['id'])).map(id('label')),
    }),
    labels: t.field({ type: [Label], resolve: (issue, _, { loaders }) => loaders.labels.load(issue['id']) }),
    roleAssignments: t.field({
      type: [RoleAssignment],
      resolve: (issue, _, { loaders }) => loaders.roleAssignments.load(issue['id']),
    }),
    commentCount: t.exposeInt('comment_count'),
    subIssueCount: t.exposeInt('sub_issue_count'),
    linkCount: t.exposeInt('link_count'),
    estimateValue: t.exposeInt('estimate_value', { nullable: true }),
    dueDate: t.expose('due_date', { type: 'Date', nullable: true }),
    createdUtc: t.expose('created_utc', { type: 'DateTime' }),
    updatedUtc: t.expose('updated_utc', { type: 'DateTime' }),
    lastActivityUtc: t.expose('last_activity_utc', { type: 'DateTime', nullable: true }),
    lastCommentUtc: t.expose('last_comment_utc', { type: 'DateTime', nullable: true }),
    closedUtc: t.expose('closed_utc', { type: 'DateTime', nullable: true }),
    isSubscribed: t.boolean({
      resolve: async (issue, _, { loaders }) => (await loaders.subscribed.load(issue['id'])) > 0,
    }),
    comments: t.field({
      type: CommentConnection,
      args: { first: t.arg.int({ defaultValue: 50 }) },
      resolve: async (issue, { first }, { loaders }) => {
        const limit = first ?? 50;
        const found = await loaders.commentsOfIssue({ first: limit + 1 }).load(issue['id']);
        return pageOf(found, limit, () => loaders.commentTotals.load(issue['id']));
      },
    }),
  }),
});

Comment.implement({
  fields: (t) => ({
    id: t.id({ resolve: id('comment') }),
    parentCommentId: t.id({ nullable: true, resolve: idOrNull('comment', 'parent_comment_id') }),
    authorUserAccountId: t.id({ resolve: id('user', 'author_user_account_id') }),
    author: t.field({
      type: Member,
      resolve: (comment, _, { loaders }) => loaders.member.load(comment['author_user_account_id']),
    }),
    parentAuthorDisplayName: t.string({
      nullable: true,
      resolve: async (comment, _, { loaders }) =>
        comment['parent_author_user_account_id']
          ? (await loaders.member.load(comment['parent_author_user_account_id']))['display_name']
          : null,
    }),
    body: t.field({ type: 'RichText', resolve: (comment) => richText(comment['body']) }),
    bodyText: t.exposeString('body'),
    canManage: t.boolean({
      resolve: (comment, _, { caller }) =>
        caller.managesAll || comment['author_user_account_id'] === caller.userAccountId,
    }),
    isEdited: t.exposeBoolean('is_edited'),
    createdUtc: t.expose('created_utc', { type: 'DateTime' }),
    updatedUtc: t.expose('updated_utc', { type: 'DateTime' }),
  }),
});
