import { addAgents } from './agent-conversations.ts';
import { addCounts } from './counts.ts';
import { addIssues } from './issues.ts';
import { addWorkspaceLabels } from './labels.ts';
import { addPeople } from './people.ts';
import { addProjects } from './projects.ts';
import { addTeams } from './teams.ts';
import { type DemoRows, emptyWorld, memberOf } from './world.ts';

/** The demo workspace's row, the same on every day, so that a database holds it once. */
export const demoWorkspace = {
  workspaceId: '01930c5e-7a40-7d3a-9c41-5e6f8a2b9d10',
  name: 'Halyard & Tern',
} as const;

/**
 * All rows of the demo workspace. The same moment gives the same rows, and so does the same day, but for two
 * conversations that an agent is having right now.
 */
export function demoRows(now: Date): { rows: DemoRows; createdUtc: Date; ownerUserAccountId: string } {
  const world = emptyWorld(demoWorkspace.workspaceId, now);
  addPeople(world);
  addAgents(world);
  addWorkspaceLabels(world);
  addTeams(world);
  addProjects(world);
  addCounts(world, addIssues(world));
  const createdUtc = new Date(world.calendar.daysAgo(905));
  return { rows: world.rows, createdUtc, ownerUserAccountId: memberOf(world, 'mara').userAccountId };
}
