import type { RepositoryContextFieldsFragment } from '../operations.generated.ts';
import { boolean, code, type Shape, shape, text } from '../shape.ts';

/** The specification's Repository context. */
export const repositoryContext: Shape<RepositoryContextFieldsFragment> = shape('RepositoryContext', {
  id: text((repository) => repository.id),
  teamId: text((repository) => repository.teamId),
  workspaceScmConnectionId: text((repository) => repository.workspaceScmConnectionId),
  externalProjectId: text((repository) => repository.externalProjectId),
  externalProjectName: text((repository) => repository.externalProjectName),
  externalRepositoryId: text((repository) => repository.externalRepositoryId),
  externalRepositoryName: text((repository) => repository.externalRepositoryName),
  externalRepositoryFullName: text((repository) => repository.externalRepositoryFullName),
  externalRepositoryUrl: text((repository) => repository.externalRepositoryUrl),
  defaultBranch: text((repository) => repository.defaultBranch),
  provider: code('Provider', (repository) => repository.provider),
  isDefaultForAgents: boolean((repository) => repository.isDefaultForAgents),
});
