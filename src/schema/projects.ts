import { priorityRank } from '../model/codes.ts';
import { burnupField } from './burnup.ts';
import { type Entity, entity } from './builder/entity.ts';
import { Priority, ProjectState } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { Label } from './labels.ts';
import { limits } from '../model/limits.ts';
import { through } from './builder/lists.ts';
import { Member } from './members.ts';
import { ProjectLink } from './project-links.ts';
import { ProjectStatus } from './project-statuses.ts';
import { Team } from './teams.ts';

const members = through('projectMember', 'projectId', 'userAccountId', 'member', 'userAccountId');
const labels = through('projectLabel', 'projectId', 'labelId', 'label', 'id');

export const Project: Entity<'project'> = entity('Project', {
  table: 'project',
  prefix: 'project',
  singular: 'project',
  plural: 'projects',
  description: 'A project of a team: work towards one outcome, with a lead, a status and a target.',
  scope: 'projects:read',
  orders: {
    NAME: { column: 'nameFold', kind: 'text', nullable: false },
    PRIORITY: { column: 'priorityRank', kind: 'int', nullable: false },
    LEAD: { column: 'leadDisplayNameFold', kind: 'text', nullable: true },
    TARGET: { column: 'targetUtc', kind: 'time', nullable: true },
    STATUS: { column: 'statusPosition', kind: 'int', nullable: false },
  },
  defaultOrder: { field: 'NAME', direction: 'asc' },
  filter: (f) => ({
    id: f.id('project'),
    key: f.key('project', 'key'),
    name: f.text('nameFold'),
    state: f.enum(ProjectState, 'state'),
    priority: f.enum(Priority, 'priority', priorityRank),
    statusId: f.id('pstatus', 'statusId'),
    status: f.reference(ProjectStatus, 'statusId'),
    teamId: f.id('team', 'teamId'),
    team: f.reference(Team, 'teamId'),
    leadUserAccountId: f.id('user', 'leadUserAccountId'),
    lead: f.reference(Member, 'leadUserAccountId', 'userAccountId'),
    targetUtc: f.time('targetUtc'),
    startUtc: f.time('startUtc'),
    labels: f.some(Label, labels, { shownBy: 'labelIds' }),
    members: f.some(Member, members, { shownBy: 'memberUserAccountIds' }),
  }),
});

Project.implement((t) => ({
  workspaceId: t.idOf('workspace', 'workspaceId', { description: 'The workspace of the project.' }),
  key: t.exposeString('key', {
    description: 'The key, in upper case.',
    scope: 'token',
  }),
  name: t.exposeString('name', { description: 'The name of the project.', scope: 'token' }),
  iconCss: t.exposeString('iconCss', {
    description: 'The CSS class of the icon; empty if it has none.',
    scope: 'token',
  }),
  color: t.exposeString('color', { description: 'The color code; empty if it has none.', scope: 'token' }),
  teamId: t.idOf('team', 'teamId', { description: 'The team that the project belongs to.', scope: 'token' }),
  team: t.reference(Team, 'teamId', { description: 'The team that the project belongs to.' }),
  summary: t.exposeString('summary', { description: 'A one-line summary of the project; may be empty.' }),
  description: t.exposeString('description', {
    description: 'The description of the project; may be empty.',
  }),
  slug: t.exposeString('slug', { description: 'The name in the form that URLs use.' }),
  state: t.expose('state', {
    type: ProjectState,
    description: 'The state of the project; it follows from its status.',
  }),
  statusId: t.idOf('pstatus', 'statusId', { description: 'The status of the project.' }),
  status: t.reference(ProjectStatus, 'statusId', { description: 'The status of the project.' }),
  priority: t.expose('priority', { type: Priority, description: 'The priority.' }),
  leadUserAccountId: t.idOf('user', 'leadUserAccountId', {
    nullable: true,
    description: 'The account of the lead; null if there is none.',
  }),
  lead: t.reference(Member, 'leadUserAccountId', {
    by: 'userAccountId',
    nullable: true,
    description: 'The member who leads the project; null if there is none.',
  }),
  startUtc: t.expose('startUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When the project starts or started.',
  }),
  targetUtc: t.expose('targetUtc', {
    type: 'DateTime',
    nullable: true,
    description: 'When the project should be done.',
  }),
  progressPercent: t.sums('projectCount', {
    key: 'projectId',
    columns: ['issueCount', 'completedIssueCount'],
    compute: ({ issueCount, completedIssueCount }) =>
      issueCount > 0 ? Math.round((completedIssueCount / issueCount) * 100) : 0,
    description:
      'The completed issues in percent of those that are not canceled, rounded; 0 if there are none.',
  }),
  linkCount: t.exposeInt('linkCount', { description: 'The number of its links.' }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When the project was created.' }),
  updatedUtc: t.expose('updatedUtc', { type: 'DateTime', description: 'When the project was last changed.' }),
  labelIds: t.listOf(Label, {
    through: labels,
    orderBy: [{ column: 'nameFold' }, { column: 'id' }],
    prefix: 'label',
    column: 'id',
    description: `The ids of its labels, ordered by name; at most ${limits.projectLabels}.`,
  }),
  labels: t.children(Label, { through: labels, description: 'The labels of the project.' }),
  memberUserAccountIds: t.listOf(Member, {
    through: members,
    orderBy: [{ column: 'displayNameFold' }, { column: 'id' }],
    prefix: 'user',
    column: 'userAccountId',
    description: `The accounts of its members, ordered by display name; at most ${limits.projectMembers.toLocaleString('en')}.`,
  }),
  members: t.children(Member, { through: members, description: 'The members of the project.' }),
  burnup: burnupField(
    t,
    { column: 'projectId', countsCanceled: false },
    'How its scope and the completed part of it grew. Completed issues are done; canceled issues do not count.',
  ),
  issues: t.children(Issue, { key: 'projectId', description: 'The issues of the project.' }),
  links: t.children(ProjectLink, {
    key: 'projectId',
    count: 'linkCount',
    description: 'The links of the project.',
  }),
}));
