import { type Entity, entity } from './builder/entity.ts';
import { Provider } from './builder/enums.ts';
import { Team } from './teams.ts';

const emptyFirst = 'Repositories without one have an empty text, which sorts first in ascending order.';

export const RepositoryContext: Entity<'repository'> = entity('RepositoryContext', {
  table: 'repository',
  prefix: 'repo',
  singular: 'repository',
  plural: 'repositories',
  description: 'A repository that a team works on, with the facts that an agent needs.',
  scope: 'teams:read',
  orders: {
    REPOSITORY_NAME: { column: 'externalRepositoryNameFold', kind: 'text', nullable: false },
    PROVIDER: { column: 'provider', kind: 'int', nullable: false },
    PROJECT_NAME: { column: 'externalProjectNameFold', kind: 'text', nullable: false },
    DEFAULT_BRANCH: { column: 'defaultBranchFold', kind: 'text', nullable: false },
  },
  orderNotes: { PROJECT_NAME: emptyFirst, DEFAULT_BRANCH: emptyFirst },
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
  teamId: t.idOf('team', 'teamId', { description: 'The team that works on the repository.' }),
  team: t.reference(Team, 'teamId', { description: 'The team that works on the repository.' }),
  workspaceScmConnectionId: t.exposeString('workspaceScmConnectionId', {
    description: 'The connection to source control through which it is accessed; empty if there is none.',
  }),
  provider: t.expose('provider', { type: Provider, description: 'The service that hosts the repository.' }),
  externalProjectId: t.exposeString('externalProjectId', {
    description: 'The id of its project at the provider; empty if it has none.',
  }),
  externalProjectName: t.exposeString('externalProjectName', {
    description: 'The name of its project at the provider; empty if it has none.',
  }),
  externalRepositoryId: t.exposeString('externalRepositoryId', {
    description: 'The id of the repository at the provider; empty if it has none.',
  }),
  externalRepositoryName: t.exposeString('externalRepositoryName', {
    description: 'The name of the repository at the provider.',
  }),
  externalRepositoryFullName: t.exposeString('externalRepositoryFullName', {
    description: 'The name of the repository with that of its owner, such as `acme/api`.',
  }),
  externalRepositoryUrl: t.exposeString('externalRepositoryUrl', {
    description: 'The URL of the repository at the provider; empty if it has none.',
  }),
  defaultBranch: t.exposeString('defaultBranch', {
    description: 'The branch that work starts from; empty if it is unknown.',
  }),
  isDefaultForAgents: t.exposeBoolean('isDefaultForAgents', {
    description: 'Whether agents work on this repository unless another one is named.',
  }),
}));
