import { type Entity, entity } from './builder/entity.ts';
import { Issue } from './issues.ts';
import { Label } from './labels.ts';
import { Member } from './members.ts';
import { ProjectStatus } from './project-statuses.ts';
import { Project } from './projects.ts';
import { Team } from './teams.ts';

export const Workspace: Entity<'workspace'> = entity('Workspace', {
  table: 'workspace',
  prefix: 'workspace',
  singular: 'workspace',
  plural: 'workspaces',
  description: 'The tenant: everything else belongs to one, and a token sees no other.',
  scope: 'token',
});

Workspace.implement((t) => ({
  name: t.exposeString('name', { description: 'The name of the workspace.' }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was made.' }),
  teams: t.all(Team, { description: 'Its teams.' }),
  projects: t.all(Project, { description: 'Its projects.' }),
  members: t.all(Member, { description: 'Its members.' }),
  issues: t.all(Issue, { description: 'Its issues.' }),
  labels: t.all(Label, { description: 'Its labels, those of teams among them.' }),
  projectStatuses: t.all(ProjectStatus, { description: 'The statuses that its projects can be in.' }),
}));
