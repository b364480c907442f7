import { type Entity, entity } from './builder/entity.ts';
import { MemberRole, MemberStatus, PrincipalKind } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { limits } from '../model/limits.ts';
import { through } from './builder/lists.ts';
import { Project } from './projects.ts';
import { Team } from './teams.ts';

const memberTeams = through('teamMember', 'userAccountId', 'teamId', 'team', 'id');
const teamOrder = [{ column: 'nameFold' }, { column: 'id' }] as const;

export const Member: Entity<'member'> = entity('Member', {
  table: 'member',
  prefix: 'member',
  singular: 'member',
  plural: 'members',
  description:
    'A person, an agent or a service in the workspace. Other types refer to it by its `userAccountId`.',
  scope: 'members:read',
  orders: {
    DISPLAY_NAME: { column: 'displayNameFold', kind: 'text', nullable: false },
    ROLE: { column: 'role', kind: 'int', nullable: false },
    STATUS: { column: 'status', kind: 'int', nullable: false },
  },
  defaultOrder: { field: 'DISPLAY_NAME', direction: 'asc' },
  filter: (f) => ({
    id: f.id('member'),
    userAccountId: f.id('user', 'userAccountId'),
    displayName: f.text('displayNameFold'),
    emailAddress: f.text('emailAddressFold'),
    role: f.enum(MemberRole, 'role'),
    status: f.enum(MemberStatus, 'status'),
    principalKind: f.enum(PrincipalKind, 'principalKind'),
    teams: f.some(Team, memberTeams, { own: 'userAccountId', shownBy: 'teamIds' }),
  }),
});

Member.implement((t) => ({
  userAccountId: t.idOf('user', 'userAccountId', {
    description: 'The account of the member, to which issues, comments and teams refer.',
    scope: 'token',
  }),
  displayName: t.exposeString('displayName', { description: 'The name that people see.', scope: 'token' }),
  avatarUrl: t.expose('avatarUrl', {
    type: 'URL',
    nullable: true,
    description: 'The URL of a picture of the member.',
    scope: 'token',
  }),
  principalKind: t.expose('principalKind', {
    type: PrincipalKind,
    description: 'A person, an agent or a service.',
    scope: 'token',
  }),
  emailAddress: t.exposeString('emailAddress', {
    nullable: true,
    description: 'The e-mail address of the member.',
  }),
  role: t.expose('role', { type: MemberRole, description: 'What the member may do in the workspace.' }),
  status: t.expose('status', { type: MemberStatus, description: 'The status of the member.' }),
  createdUtc: t.expose('createdUtc', {
    type: 'DateTime',
    description: 'When the member joined the workspace.',
  }),
  teamIds: t.listOf(Team, {
    through: memberTeams,
    parentKey: 'userAccountId',
    orderBy: teamOrder,
    prefix: 'team',
    column: 'id',
    description: `The ids of the member's teams, ordered by name; at most ${limits.teams.toLocaleString('en')}.`,
  }),
  teamNames: t.listOf(Team, {
    through: memberTeams,
    parentKey: 'userAccountId',
    orderBy: teamOrder,
    column: 'name',
    description: `The names of the member's teams, in the order of \`teamIds\`; at most ${limits.teams.toLocaleString('en')}.`,
  }),
  teams: t.children(Team, {
    through: memberTeams,
    parentKey: 'userAccountId',
    description: "The member's teams.",
  }),
  assignedIssues: t.children(Issue, {
    through: through('issueAssignee', 'userAccountId', 'issueId', 'issue', 'id'),
    parentKey: 'userAccountId',
    description: 'The issues that the member is assigned to, as the primary or as another assignee.',
  }),
  reportedIssues: t.children(Issue, {
    key: 'reporterUserAccountId',
    parentKey: 'userAccountId',
    description: 'The issues that the member reported.',
  }),
  ledProjects: t.children(Project, {
    key: 'leadUserAccountId',
    parentKey: 'userAccountId',
    description: 'The projects that the member leads.',
  }),
}));
