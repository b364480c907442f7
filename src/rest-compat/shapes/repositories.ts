import { limits } from '../../model/limits.ts';
import type { RepositoryContextFieldsFragment } from '../operations.generated.ts';
import { boolean, code, id, type Shape, shape, text, url } from '../shape.ts';

/** The specification's Repository context. */
export const repositoryContext: Shape<RepositoryContextFieldsFragment> = shape('RepositoryContext', {
  id: id('repo', 'id'),
  teamId: id('team', 'teamId'),
  workspaceScmConnectionId: text(limits.name, 'workspaceScmConnectionId'),
  externalProjectId: text(limits.name, 'externalProjectId'),
  externalProjectName: text(limits.name, 'externalProjectName'),
  externalRepositoryId: text(limits.name, 'externalRepositoryId'),
  externalRepositoryName: text(limits.name, 'externalRepositoryName'),
  externalRepositoryFullName: text(limits.repositoryName, 'externalRepositoryFullName'),
  externalRepositoryUrl: url('externalRepositoryUrl'),
  defaultBranch: text(limits.name, 'defaultBranch'),
  provider: code('Provider', 'provider'),
  isDefaultForAgents: boolean('isDefaultForAgents'),
});
