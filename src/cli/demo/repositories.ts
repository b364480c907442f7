import { provider } from '../../model/codes.ts';
import { fold } from '../../model/fold.ts';
import { Random } from './random.ts';
import type { DemoTeam, World } from './world.ts';

/** Both hosts are the company's own: no address of the demo belongs to anybody else. */
const hosts = {
  github: 'github.halyard-tern.example',
  azure_devops: 'azuredevops.halyard-tern.example',
} as const;
const owner = 'halyard-tern';

/** Adds the team's repositories, of both providers; at most one is the default for agents. */
export function addRepositories(world: World, team: DemoTeam): void {
  for (const repository of team.facts.repositories) {
    const { name, project = '', branch = 'main' } = repository;
    const random = new Random(`repository ${team.code} ${name}`);
    const createdMs = team.createdMs + random.integer(1, 20) * 86_400_000;
    world.rows.repository.push({
      workspaceId: world.workspaceId,
      id: world.ids.uuid(createdMs),
      teamId: team.id,
      workspaceScmConnectionId:
        repository.provider === 'github' ? 'scm-github-enterprise' : 'scm-azure-devops-server',
      provider: provider[repository.provider],
      externalProjectId: project && new Random(`project ${project}`).uuid(world.calendar.daysAgo(885)),
      externalProjectName: project,
      externalProjectNameFold: fold(project),
      externalRepositoryId: String(random.integer(100_000, 999_999)),
      externalRepositoryName: name,
      externalRepositoryNameFold: fold(name),
      externalRepositoryFullName: `${project || owner}/${name}`,
      externalRepositoryUrl: repositoryUrl(repository),
      defaultBranch: branch,
      defaultBranchFold: fold(branch),
      isDefaultForAgents: repository.isDefault ?? false,
      createdUtc: new Date(createdMs),
      updatedUtc: new Date(createdMs),
    });
  }
}

/** Where a change to the team's first repository is discussed; undefined for a team without code. */
export function changeUrl(team: DemoTeam, number: number): string | undefined {
  const [repository] = team.facts.repositories;
  if (!repository) return undefined;
  const page = repository.provider === 'github' ? 'pull' : 'pullrequest';
  return `${repositoryUrl(repository)}/${page}/${number}`;
}

function repositoryUrl({ name, project, provider }: DemoTeam['facts']['repositories'][number]): string {
  if (provider === 'github') return `https://${hosts.github}/${owner}/${name}`;
  return `https://${hosts.azure_devops}/${owner}/${encodeURIComponent(project ?? owner)}/_git/${name}`;
}
