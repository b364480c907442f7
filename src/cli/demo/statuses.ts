import { statusCategory } from '../../model/codes.ts';
import { fold } from '../../model/fold.ts';
import type { TeamFacts } from './team-list.ts';
import { type DemoStatus, type DemoTeam, missing, type World } from './world.ts';

type Step = { name: string; category: keyof typeof statusCategory; color: string; description: string };

const backlogColor = '#bec2c8';
const openColor = '#8d96a0';
const activeColor = '#f2c94c';
const reviewColor = '#26b5ce';
const completedColor = '#5e6ad2';
const canceledColor = '#95a2b3';

/** The ways in which teams work. The first step of the category `open` is where an issue starts. */
const workflows: Record<TeamFacts['workflow'], readonly Step[]> = {
  engineering: [
    { name: 'Backlog', category: 'backlog', color: backlogColor, description: 'Worth doing, not planned.' },
    { name: 'Todo', category: 'open', color: openColor, description: 'Next in line.' },
    { name: 'In Progress', category: 'active', color: activeColor, description: 'Somebody works on it.' },
    {
      name: 'In Review',
      category: 'active',
      color: reviewColor,
      description: 'Waits for a second pair of eyes.',
    },
    { name: 'Done', category: 'completed', color: completedColor, description: 'Merged and released.' },
    { name: 'Canceled', category: 'canceled', color: canceledColor, description: 'Will not be done.' },
    {
      name: 'Duplicate',
      category: 'canceled',
      color: canceledColor,
      description: 'Lives on in another issue.',
    },
  ],
  design: [
    { name: 'Ideas', category: 'backlog', color: backlogColor, description: 'Not asked for yet.' },
    { name: 'Ready', category: 'open', color: openColor, description: 'Briefed and waiting for a designer.' },
    { name: 'Exploring', category: 'active', color: activeColor, description: 'Sketches and prototypes.' },
    { name: 'Critique', category: 'active', color: reviewColor, description: 'On the wall for comments.' },
    {
      name: 'Handed off',
      category: 'completed',
      color: completedColor,
      description: 'Engineers have all they need.',
    },
    { name: 'Dropped', category: 'canceled', color: canceledColor, description: 'Explored and left.' },
  ],
  support: [
    {
      name: 'Parked',
      category: 'backlog',
      color: backlogColor,
      description: 'Nothing to do until something changes.',
    },
    { name: 'New', category: 'open', color: '#eb5757', description: 'Nobody has answered yet.' },
    { name: 'Investigating', category: 'active', color: activeColor, description: 'We are looking into it.' },
    { name: 'Waiting on customer', category: 'active', color: '#bb87fc', description: 'We have asked back.' },
    { name: 'Solved', category: 'completed', color: completedColor, description: 'The customer agrees.' },
    {
      name: 'Closed unsolved',
      category: 'canceled',
      color: canceledColor,
      description: 'No answer, or no remedy.',
    },
  ],
  simple: [
    { name: 'Someday', category: 'backlog', color: backlogColor, description: '' },
    { name: 'To do', category: 'open', color: openColor, description: '' },
    { name: 'Doing', category: 'active', color: activeColor, description: '' },
    { name: 'Done', category: 'completed', color: completedColor, description: '' },
    { name: 'Dropped', category: 'canceled', color: canceledColor, description: '' },
  ],
};

/** Adds the team's statuses: of all five categories, one of them initial. */
export function addStatuses(world: World, team: DemoTeam): void {
  const steps = workflows[team.facts.workflow];
  const initial = steps.find((step) => step.category === 'open');
  for (const [position, step] of steps.entries()) {
    const category = statusCategory[step.category];
    const status: DemoStatus = {
      id: world.ids.uuid(team.createdMs),
      name: step.name,
      category,
      rank: category * 10_000 + position,
      isInitial: step === initial,
      isTerminal: category === statusCategory.completed || category === statusCategory.canceled,
    };
    team.statuses.push(status);
    world.rows.status.push({
      workspaceId: world.workspaceId,
      id: status.id,
      teamId: team.id,
      name: step.name,
      nameFold: fold(step.name),
      description: step.description,
      color: step.color,
      category,
      position,
      isInitial: status.isInitial,
      isTerminal: status.isTerminal,
      createdUtc: new Date(team.createdMs),
      updatedUtc: new Date(team.createdMs),
    });
  }
}

/** The team's first status of the category, or its last one where `last` is set. */
export function statusOf(team: DemoTeam, category: keyof typeof statusCategory, last = false): DemoStatus {
  const found = team.statuses.filter((status) => status.category === statusCategory[category]);
  return found.at(last ? -1 : 0) ?? missing('status', category);
}
