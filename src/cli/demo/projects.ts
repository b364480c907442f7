import { priority as priorityCode, projectState } from '../../model/codes.ts';
import { fold } from '../../model/fold.ts';
import { dayMs } from './calendar.ts';
import { type ProjectFacts, projectList } from './project-list.ts';
import { Random } from './random.ts';
import {
  type DemoMember,
  type DemoProject,
  memberOf,
  missing,
  teamOf,
  type World,
  workersAt,
} from './world.ts';

type Step = {
  name: ProjectFacts['status'];
  state: keyof typeof projectState;
  color: string;
  description: string;
};

const steps: readonly Step[] = [
  { name: 'Idea', state: 'planned', color: '#bec2c8', description: 'Written down, not promised.' },
  { name: 'Planned', state: 'planned', color: '#8d96a0', description: 'Has people and a date.' },
  { name: 'In Progress', state: 'active', color: '#f2c94c', description: 'On its way.' },
  { name: 'At Risk', state: 'active', color: '#eb5757', description: 'On its way, and late.' },
  { name: 'Paused', state: 'paused', color: '#bb87fc', description: 'Left for now.' },
  { name: 'Completed', state: 'completed', color: '#5e6ad2', description: 'Did what it promised.' },
  { name: 'Canceled', state: 'canceled', color: '#95a2b3', description: 'Stopped for good.' },
];

/** Adds the projects' statuses and the projects with members, labels and links. */
export function addProjects(world: World): void {
  const createdUtc = new Date(world.calendar.daysAgo(885));
  const statusIds = new Map<string, string>();
  for (const [position, { name, state, color, description }] of steps.entries()) {
    const id = world.ids.uuid(createdUtc.getTime());
    statusIds.set(name, id);
    const { workspaceId } = world;
    const code = projectState[state];
    const times = { createdUtc, updatedUtc: createdUtc };
    world.rows.projectStatus.push({
      workspaceId,
      id,
      name,
      nameFold: fold(name),
      description,
      color,
      state: code,
      position,
      ...times,
    });
  }
  for (const facts of projectList)
    addProject(world, facts, statusIds.get(facts.status) ?? missing('status', facts.status));
}

function addProject(world: World, facts: ProjectFacts, statusId: string): void {
  const random = new Random(`project ${facts.key}`);
  const position = steps.findIndex((step) => step.name === facts.status);
  const step = steps[position] ?? missing('status', facts.status);
  const team = teamOf(world, facts.team);
  const createdMs = world.calendar.daysAgo(Math.max(6, -(facts.start ?? 0)) + random.integer(5, 30));
  const ended = step.state === 'completed' || step.state === 'canceled';
  const project: DemoProject = {
    id: world.ids.uuid(createdMs),
    key: facts.key,
    name: facts.name,
    team,
    state: projectState[step.state],
    lead: facts.lead && memberOf(world, facts.lead),
    startMs: world.calendar.daysAgo(-(facts.start ?? 365)),
    endMs: ended ? world.calendar.daysAgo(-(facts.target ?? 0)) : undefined,
  };
  team.projects.push(project);
  addProjectRow(world, {
    facts,
    project,
    statusId,
    position,
    createdMs,
    color: random.chance(0.5) ? team.facts.color : step.color,
  });
  addMembers(world, project, random);
  addLabels(world, project, facts);
  addLinks(world, project, facts, createdMs + dayMs);
}

interface Placed {
  facts: ProjectFacts;
  project: DemoProject;
  statusId: string;
  position: number;
  createdMs: number;
  color: string;
}

function addProjectRow(world: World, { facts, project, statusId, position, createdMs, color }: Placed): void {
  const { name, summary, iconCss, links = [], start, target } = facts;
  const lead = project.lead;
  const day = (offset: number | undefined) =>
    offset === undefined ? null : new Date(world.calendar.daysAgo(-offset));
  world.rows.project.push({
    workspaceId: world.workspaceId,
    id: project.id,
    teamId: project.team.id,
    key: project.key,
    name,
    nameFold: fold(name),
    summary,
    description: `${summary}\n\nOwned by ${project.team.facts.name}. Progress is reviewed every second Thursday; questions go to ${lead?.displayName ?? 'the team'}.`,
    slug: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    iconCss,
    color,
    statusId,
    state: project.state,
    statusPosition: position,
    priority: priorityCode[facts.priority],
    leadUserAccountId: lead?.userAccountId ?? null,
    leadDisplayNameFold: lead ? fold(lead.displayName) : null,
    startUtc: day(start),
    targetUtc: day(target),
    linkCount: links.length,
    createdUtc: new Date(createdMs),
    updatedUtc: new Date(project.endMs ?? createdMs),
  });
}

function addMembers(world: World, project: DemoProject, random: Random): void {
  const others = random.sample(workersAt(project.team, world.calendar.todayMs), random.integer(1, 4));
  const members = new Set<DemoMember>(project.lead ? [project.lead, ...others] : others);
  for (const { userAccountId } of members) {
    world.rows.projectMember.push({ workspaceId: world.workspaceId, projectId: project.id, userAccountId });
  }
}

function addLabels(world: World, project: DemoProject, facts: ProjectFacts): void {
  for (const name of facts.labels ?? []) {
    const label = world.labels.find((label) => label.name === name) ?? missing('label', name);
    world.rows.projectLabel.push({
      workspaceId: world.workspaceId,
      projectId: project.id,
      labelId: label.id,
    });
  }
}

function addLinks(world: World, project: DemoProject, facts: ProjectFacts, fromMs: number): void {
  const author = project.lead ?? project.team.lead ?? memberOf(world, 'mara');
  for (const [index, [title, path]] of (facts.links ?? []).entries()) {
    const createdMs = fromMs + index * 3 * 3_600_000;
    world.rows.projectLink.push({
      workspaceId: world.workspaceId,
      id: world.ids.uuid(createdMs),
      projectId: project.id,
      url: `https://${path.replace('/', '.halyard-tern.example/')}`,
      title,
      createdUtc: new Date(createdMs),
      createdByUserAccountId: author.userAccountId,
    });
  }
}
