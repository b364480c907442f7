import { type Entity, entity } from './builder/entity.ts';
import { Provider } from './builder/enums.ts';
import { Team } from './teams.ts';

export const RepositoryContext: Entity<'repository'> = entity('RepositoryContext', {
  table: 'repository',
  prefix: 'repo',
  singular: 'repository',
  plural: 'repositories',
  description: 'A repository that a team works on, as an agent needs to know it.',
  scope: 'teams:read',
  orders: {
    REPOSITORY_NAME: { column: 'externalRepositoryNameFold', kind: 'text', nullable: false },
    PROVIDER: { column: 'provider', kind: 'int', nullable: false },
    PROJECT_NAME: { column: 'externalProjectNameFold', kind: 'text', nullable: false },
    DEFAULT_BRANCH: { column: 'defaultBranchFold', kind: 'text', nullable: false },
  },
  defaultOrder: { field: 'REPOSITORY_NAME', direction: 'asc' },
  filter: (f) => ({
    id: f.id('repo'),
    teamId: f.id('team', 'teamId'),
    provider: f.enum(Provider, 'provider'),
    isDefaultForAgents: f.boolean('isDefaultForAgents'),
    externalRepositoryName: f.text('externalRepositoryNameFold'),
    externalProjectName: f.text('externalProjectNameFold'),
  }),
});

RepositoryContext.implement((t) => ({
  teamId: t.idOf('team', 'teamId', { description: 'The team that works on it.' }),
  team: t.reference(Team, 'teamId', { description: 'The team that works on it.' }),
  workspaceScmConnectionId: t.exposeString('workspaceScmConnectionId', {
    description: 'The connection to source control that it is reached by; empty when none.',
  }),
  provider: t.expose('provider', { type: Provider, description: 'Where it is hosted.' }),
  externalProjectId: t.exposeString('externalProjectId', {
    description: 'The id of its project at the provider; empty when none.',
  }),
  externalProjectName: t.exposeString('externalProjectName', {
    description: 'The name of its project at the provider; empty when none.',
  }),
  externalRepositoryId: t.exposeString('externalRepositoryId', {
    description: 'Its id at the provider; empty when none.',
  }),
  externalRepositoryName: t.exposeString('externalRepositoryName', {
    description: 'Its name at the provider.',
  }),
  externalRepositoryFullName: t.exposeString('externalRepositoryFullName', {
    description: 'Its name with that of its owner.',
  }),
  externalRepositoryUrl: t.exposeString('externalRepositoryUrl', {
    description: 'Its address at the provider; empty when none.',
  }),
  defaultBranch: t.exposeString('defaultBranch', {
    description: 'The branch that work starts from; empty when unknown.',
  }),
  isDefaultForAgents: t.exposeBoolean('isDefaultForAgents', {
    description: 'Do agents work on it when none is named.',
  }),
}));
