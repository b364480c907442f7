import { readNewestCursor } from '../resolvers/changes/changes.ts';
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
  description: 'A workspace. Every other object belongs to one, and a token can access only its own.',
  scope: 'token',
});

Workspace.implement((t) => ({
  name: t.exposeString('name', { description: 'The name of the workspace.' }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was created.' }),
  teams: t.all(Team, { description: 'The teams of the workspace.' }),
  projects: t.all(Project, { description: 'The projects of the workspace.' }),
  members: t.all(Member, { description: 'The members of the workspace.' }),
  issues: t.all(Issue, { description: 'The issues of the workspace.' }),
  labels: t.all(Label, { description: 'All labels of the workspace, those of its teams included.' }),
  changeCursor: t.computedForViewer({
    type: 'String',
    columns: [],
    compute: (_workspace, _references, { changeCursor }) => changeCursor,
    extensions: { firstRead: readNewestCursor },
    description:
      'The cursor of the newest change. Everything else that the same operation reads includes that change already, so a client that continues from here misses nothing.',
  }),
  projectStatuses: t.all(ProjectStatus, { description: 'The statuses that its projects can be in.' }),
}));
