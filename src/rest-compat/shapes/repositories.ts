import { limits } from '../../schema/builder/limits.ts';
import type { RepositoryContextFieldsFragment } from '../operations.generated.ts';
import { boolean, code, id, type Shape, shape, text, url } from '../shape.ts';

/** The specification's Repository context. */
export const repositoryContext: Shape<RepositoryContextFieldsFragment> = shape('RepositoryContext', {
  id: id('repo', (repository) => repository.id),
  teamId: id('team', (repository) => repository.teamId),
  workspaceScmConnectionId: text(limits.name, (repository) => repository.workspaceScmConnectionId),
  externalProjectId: text(limits.name, (repository) => repository.externalProjectId),
  externalProjectName: text(limits.name, (repository) => repository.externalProjectName),
  externalRepositoryId: text(limits.name, (repository) => repository.externalRepositoryId),
  externalRepositoryName: text(limits.name, (repository) => repository.externalRepositoryName),
  externalRepositoryFullName: text(
    limits.repositoryName,
    (repository) => repository.externalRepositoryFullName,
  ),
  externalRepositoryUrl: url((repository) => repository.externalRepositoryUrl),
  defaultBranch: text(limits.name, (repository) => repository.defaultBranch),
  provider: code('Provider', (repository) => repository.provider),
  isDefaultForAgents: boolean((repository) => repository.isDefaultForAgents),
});
