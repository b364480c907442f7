import { Delivery } from './deliveries.ts';
import { type Entity, entity } from './builder/entity.ts';
import { TeamState } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { Label } from './labels.ts';
import { limits } from '../model/limits.ts';
import { through } from './builder/lists.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { RepositoryContext } from './repositories.ts';
import { IssueStatus } from './statuses.ts';

export const Team: Entity<'team'> = entity('Team', {
  table: 'team',
  prefix: 'team',
  singular: 'team',
  plural: 'teams',
  description: 'A team: it owns issues, statuses, labels, deliveries, projects and repositories.',
  scope: 'teams:read',
  orders: {
    NAME: { column: 'nameFold', kind: 'text', nullable: false },
    CODE: { column: 'code', kind: 'text', nullable: false },
    MEMBER_COUNT: { column: 'memberCount', kind: 'int', nullable: false },
    ACTIVE_PROJECT_COUNT: { column: 'activeProjectCount', kind: 'int', nullable: false },
    STATE: { column: 'state', kind: 'int', nullable: false },
  },
  defaultOrder: { field: 'NAME', direction: 'asc' },
  filter: (f) => ({
    id: f.id('team'),
    name: f.text('nameFold'),
    code: f.key('team', 'code'),
    slug: f.text('slug', 'lower'),
    state: f.enum(TeamState, 'state'),
    deliveriesEnabled: f.boolean('deliveriesEnabled'),
    leadUserAccountId: f.id('user', 'leadUserAccountId'),
    lead: f.reference(Member, 'leadUserAccountId', 'userAccountId'),
    memberCount: f.int('memberCount'),
    activeProjectCount: f.int('activeProjectCount'),
    members: f.some(Member, through('teamMember', 'teamId', 'userAccountId', 'member', 'userAccountId')),
  }),
});

Team.implement((t) => ({
  workspaceId: t.idOf('workspace', 'workspaceId', { description: 'The workspace of the team.' }),
  code: t.exposeString('code', {
    description: 'The short code in upper case that issue keys begin with, such as ENG.',
    scope: 'token',
  }),
  name: t.exposeString('name', { description: 'The name of the team.', scope: 'token' }),
  iconCss: t.exposeString('iconCss', {
    description: 'The CSS class of the icon; empty if it has none.',
    scope: 'token',
  }),
  color: t.exposeString('color', { description: 'The color code; empty if it has none.', scope: 'token' }),
  slug: t.exposeString('slug', { description: 'The name in the form that URLs use.' }),
  description: t.exposeString('description', {
    description: 'What the team does; may be empty.',
  }),
  state: t.expose('state', { type: TeamState, description: 'The state of the team.' }),
  leadUserAccountId: t.idOf('user', 'leadUserAccountId', {
    nullable: true,
    description: 'The account of the lead; null if there is none.',
  }),
  lead: t.reference(Member, 'leadUserAccountId', {
    by: 'userAccountId',
    nullable: true,
    description: 'The member who leads the team; null if there is none.',
  }),
  memberCount: t.exposeInt('memberCount', { description: 'The number of active members.' }),
  activeProjectCount: t.exposeInt('activeProjectCount', {
    description: 'The number of projects in the state `active`.',
  }),
  deliveriesEnabled: t.exposeBoolean('deliveriesEnabled', {
    description: 'Whether the team plans in deliveries.',
  }),
  nextIssueNumber: t.sums('teamCounter', {
    key: 'teamId',
    columns: ['nextIssueNumber'],
    compute: ({ nextIssueNumber }) => nextIssueNumber || 1,
    description: 'The number that the next issue of the team will get.',
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When the team was created.' }),
  updatedUtc: t.expose('updatedUtc', { type: 'DateTime', description: 'When the team was last changed.' }),
  statuses: t.list(IssueStatus, {
    key: 'teamId',
    orderBy: [{ column: 'position' }, { column: 'id' }],
    description: `The statuses of its issues, by position; at most ${limits.statuses}.`,
  }),
  members: t.children(Member, {
    through: through('teamMember', 'teamId', 'userAccountId', 'member', 'userAccountId'),
    description: 'The members of the team.',
  }),
  issues: t.children(Issue, { key: 'teamId', description: 'The issues of the team.' }),
  projects: t.children(Project, { key: 'teamId', description: 'The projects of the team.' }),
  labels: t.children(Label, {
    key: 'teamId',
    description: 'The labels of the team. Labels of the whole workspace are not included.',
  }),
  deliveries: t.children(Delivery, { key: 'teamId', description: 'The deliveries of the team.' }),
  repositories: t.children(RepositoryContext, {
    key: 'teamId',
    description: 'The repositories that the team works on.',
  }),
  defaultRepository: t.one(RepositoryContext, {
    key: 'teamId',
    flag: 'isDefaultForAgents',
    description: 'The repository that agents work on unless another one is named; null if there is none.',
    scope: 'teams:read',
  }),
}));
