import { memberRole, priority, principalKind, projectState } from '../../model/codes.ts';
import { agentStories, type AgentStory } from './agent-stories.ts';
import { dayMs, hourMs, workingTime } from './calendar.ts';
import { descriptionOf } from './descriptions.ts';
import { Random } from './random.ts';
import { type Family, type Kind, titlesOf, topics } from './topics.ts';
import {
  type DemoMember,
  type DemoProject,
  type DemoTeam,
  memberOf,
  missing,
  teamOf,
  wasActive,
  type World,
} from './world.ts';

/** How an issue's life goes, if the time until today suffices. */
export type Fate = 'done' | 'canceled' | 'shelved' | 'waiting' | 'stalled' | 'born closed' | 'epic' | 'story';

/** An issue as it was created, and what is to become of it. */
export interface Draft {
  readonly id: string;
  readonly team: DemoTeam;
  readonly title: string;
  readonly description: string;
  readonly kind: Kind;
  readonly createdMs: number;
  readonly reporter: DemoMember;
  readonly priority: number;
  readonly project: DemoProject | undefined;
  readonly parent: Draft | undefined;
  readonly children: Draft[];
  readonly fate: Fate;
  readonly story: AgentStory | undefined;
  readonly deletedMs: number | undefined;
  /** Set once all issues of the team are known. */
  number: number;
}

type Outline = Pick<Draft, 'team' | 'title' | 'kind' | 'createdMs' | 'fate'> &
  Partial<Pick<Draft, 'description' | 'project' | 'parent' | 'story' | 'deletedMs'>>;

/** All issues in the order of their creation, numbered in their teams without gaps. */
export function draftIssues(world: World): Draft[] {
  const drafts = [...draftFamilies(world), ...draftStories(world)];
  for (const team of world.teams.values()) drafts.push(...draftOrdinary(world, team, drafts));
  drafts.sort((one, other) => one.createdMs - other.createdMs);
  const numbers = new Map<DemoTeam, number>();
  for (const draft of drafts) {
    draft.number = (numbers.get(draft.team) ?? 0) + 1;
    numbers.set(draft.team, draft.number);
  }
  return drafts;
}

function newDraft(world: World, outline: Outline, random: Random): Draft {
  const { team, kind, createdMs } = outline;
  return {
    description: descriptionOf(kind, random, topics[team.code].context),
    project: undefined,
    parent: undefined,
    story: undefined,
    deletedMs: undefined,
    ...outline,
    id: world.ids.uuid(createdMs),
    reporter: reporterOf(world, team, createdMs, random),
    priority:
      priority[random.weighted({ none: 5, urgent: kind === 'bug' ? 1 : 0.2, high: 3, medium: 5, low: 3 })],
    children: [],
    number: 0,
  };
}

function draftFamilies(world: World): Draft[] {
  return [...world.teams.values()].flatMap((team) =>
    topics[team.code].epics.flatMap((family) => {
      const random = new Random(`family ${family.title}`);
      const createdMs = workingTime(world.calendar.daysAgo(family.daysAgo), random);
      const project = family.project ? projectOf(team, family.project) : undefined;
      const deletedMs = family.isDeleted ? world.calendar.daysAgo(11) - 9 * hourMs : undefined;
      const outline: Outline = {
        team,
        title: family.title,
        kind: 'feature',
        createdMs,
        project,
        deletedMs,
        fate: 'epic',
      };
      const epic = newDraft(world, outline, random);
      return [epic, ...draftChildren(world, epic, family, random)];
    }),
  );
}

function draftChildren(world: World, parent: Draft, family: Family, random: Random): Draft[] {
  return (family.children ?? []).flatMap((child) => {
    const createdMs = workingTime(parent.createdMs + random.integer(1, 9 * 24) * hourMs, random);
    const team = child.team ? teamOf(world, child.team) : parent.team;
    const fate = child.children ? 'epic' : childFate(parent.project, random);
    const outline: Outline = {
      team,
      title: child.title,
      kind: 'feature',
      createdMs,
      project: parent.project,
      parent,
      fate,
    };
    const draft = newDraft(world, outline, random);
    parent.children.push(draft);
    return [draft, ...draftChildren(world, draft, child, random)];
  });
}

/** What belongs to a project that was completed got done. */
function childFate(project: DemoProject | undefined, random: Random): Fate {
  if (project?.endMs !== undefined) return 'done';
  return random.weighted({ done: 11, waiting: 4, stalled: 2, canceled: 1 });
}

function draftStories(world: World): Draft[] {
  return agentStories.map((story) => {
    const random = new Random(`story ${story.title}`);
    const createdMs = workingTime(world.calendar.daysAgo(story.daysAgo), random);
    const { title, description, kind } = story;
    return newDraft(
      world,
      { team: teamOf(world, story.team), title, description, kind, createdMs, story, fate: 'story' },
      random,
    );
  });
}

/** Fills the team up to its number of issues, spread over its last year and denser towards its end. */
function draftOrdinary(world: World, team: DemoTeam, others: readonly Draft[]): Draft[] {
  const random = new Random(`issues ${team.code}`);
  const count = team.facts.issueCount - others.filter((draft) => draft.team === team).length;
  const subjects = pickTitles(team, count, random);
  const endDaysAgo = team.facts.endedDaysAgo ?? 0;
  return subjects.map(({ title, kind }, index) => {
    const age = ((index + random.fraction()) / count) ** (endDaysAgo ? 1 : 1.7);
    const daysAgo = endDaysAgo + 1.5 + age * (361 - endDaysAgo);
    const rawMs = world.calendar.daysAgo(daysAgo);
    const workMs = workingTime(rawMs, random);
    const createdMs = workMs < world.calendar.untilMs ? workMs : rawMs;
    const project = random.chance(0.65) ? random.find(projectsAt(team, createdMs)) : undefined;
    const isDeleted = !endDaysAgo && index % 40 === 20;
    const deletedMs = isDeleted ? world.calendar.daysAgo(random.integer(2, 24)) - 10 * hourMs : undefined;
    const fate = ordinaryFate({ team, project, isFresh: daysAgo < 24 }, random);
    return newDraft(world, { team, title, kind, createdMs, project, fate, deletedMs }, random);
  });
}

/** The team's own words first; reports, which are made of parts, fill what is left. */
function pickTitles(team: DemoTeam, count: number, random: Random): { title: string; kind: Kind }[] {
  const titles = random.shuffled(titlesOf(team.code));
  const { kind } = topics[team.code].reports;
  const own = titles.filter((title) => title.kind !== kind);
  const reports = titles.filter((title) => title.kind === kind);
  const picked = [...own, ...reports].slice(0, count);
  if (picked.length < count) throw new Error(`${team.code} needs ${count - picked.length} more titles.`);
  return random.shuffled(picked);
}

/** What is fresh waits more often: it is planned into a delivery that has not begun. */
function ordinaryFate(
  { team, project, isFresh }: { team: DemoTeam; project: DemoProject | undefined; isFresh: boolean },
  random: Random,
): Fate {
  if (project?.state === projectState.planned) return random.weighted({ waiting: 1, shelved: 2 });
  if (team.code === 'MIG' && random.chance(0.2)) return 'born closed';
  return random.weighted({ done: 74, canceled: 8, shelved: 9, waiting: isFresh ? 45 : 5, stalled: 4 });
}

/** The team's projects that took in issues at the time. */
function projectsAt(team: DemoTeam, atMs: number): DemoProject[] {
  return team.projects.filter((project) => {
    const leadMs = (project.state === projectState.planned ? 60 : 20) * dayMs;
    return project.startMs - leadMs <= atMs && atMs < (project.endMs ?? Infinity) - 10 * dayMs;
  });
}

function projectOf(team: DemoTeam, key: string): DemoProject {
  return team.projects.find((project) => project.key === key) ?? missing('project', key);
}

/** Mostly somebody of the team; sometimes a program, or somebody who has left since. */
function reporterOf(world: World, team: DemoTeam, atMs: number, random: Random): DemoMember {
  const origin = random.weighted({ team: 80, support: 9, program: 4, gone: 7 });
  const could = (member: DemoMember) => wasActive(member, atMs) && member.role !== memberRole.guest;
  const all = [...world.members.values()];
  const ofTeam = () => team.members.filter((member) => could(member) && member.kind === principalKind.user);
  const pools: Record<typeof origin, () => DemoMember[]> = {
    team: ofTeam,
    support: () => all.filter((member) => member.teamCodes.includes('SUP') && could(member)),
    program: () => all.filter((member) => member.kind !== principalKind.user && could(member)),
    gone: () => all.filter((member) => member.leftMs !== undefined && could(member)),
  };
  return random.find(pools[origin]()) ?? random.find(ofTeam()) ?? memberOf(world, 'mara');
}
