import { anyOf, equals } from '../comparators.ts';
import {
  DefaultRepositoryDocument,
  type Provider,
  RepositoriesDocument,
  type RepositoryContextOrderField,
} from '../operations.generated.ts';
import { direction, many, page, sortBy } from '../params.ts';
import { item, list } from '../replies.ts';
import { route } from '../route.ts';
import { repositoryContext } from '../shapes/repositories.ts';
import { boolean, oneOf, text } from '../values.ts';
import { teamCode } from './teams.ts';

const providers: Readonly<Record<string, Provider>> = {
  github: 'GITHUB',
  azuredevops: 'AZURE_DEVOPS',
  'azure-devops': 'AZURE_DEVOPS',
  azure_devops: 'AZURE_DEVOPS',
};

/** GET /v1/teams/{teamCode}/repositories */
export const repositories = route({
  method: 'GET',
  path: '/v1/teams/{teamCode}/repositories',
  scope: 'teams:read',
  summary: 'Lists the repositories of a team.',
  parameters: {
    teamCode,
    provider: many(oneOf(providers, 'Repositories at this provider.')),
    is_default: boolean(
      'Whether the repository is the default one of the team, which agents use if no other is named.',
    ),
    query: text('Repositories whose name or project name contains this text, ignoring case and accents.'),
    ...page,
    sort: sortBy<RepositoryContextOrderField>(
      'repository_name',
      {
        repository_name: 'REPOSITORY_NAME',
        provider: 'PROVIDER',
        project_name: 'PROJECT_NAME',
        default_branch: 'DEFAULT_BRANCH',
      },
      'Repositories without a project or default branch have an empty text there, which sorts first in ascending order.',
    ),
    direction,
  },
  operation: RepositoriesDocument,
  variables: (p) => ({
    code: p.teamCode,
    first: p.page_size,
    after: p.cursor,
    filter: {
      provider: anyOf(p.provider),
      isDefaultForAgents: equals(p.is_default),
      or: p.query
        ? [{ externalRepositoryName: { contains: p.query } }, { externalProjectName: { contains: p.query } }]
        : undefined,
    },
    orderBy: { field: p.sort, direction: p.direction },
  }),
  pick: 'team.repositories',
  reply: list(repositoryContext),
});

/** GET /v1/teams/{teamCode}/repositories/default */
export const defaultRepository = route({
  method: 'GET',
  path: '/v1/teams/{teamCode}/repositories/default',
  scope: 'teams:read',
  summary: 'Reads the default repository of a team, which agents use if no other is named.',
  parameters: { teamCode },
  operation: DefaultRepositoryDocument,
  variables: (p) => ({ code: p.teamCode }),
  pick: 'team.defaultRepository',
  reply: item(repositoryContext, 'The default repository of the team.'),
  notFoundMessage: 'There is no such team, or it has no default repository.',
});
