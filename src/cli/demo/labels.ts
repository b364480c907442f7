import { fold } from '../../model/fold.ts';
import { Random } from './random.ts';
import type { DemoLabel, DemoTeam, World } from './world.ts';

const colors = [
  '#e5484d',
  '#f76b15',
  '#ffc53d',
  '#46a758',
  '#12a594',
  '#0090ff',
  '#6e56cf',
  '#d6409f',
  '#8d8d8d',
];

/** What is said of an issue's nature, by the kinds of the topics. */
export const kindLabels = {
  bug: 'Bug',
  feature: 'Feature',
  chore: 'Chore',
  research: 'Research',
  request: 'Request',
} as const;

const descriptions: Record<string, string> = {
  Bug: 'It does not do what it should.',
  Feature: 'It should do something new.',
  Chore: 'Nobody sees it, and it has to be done.',
  Research: 'We do not know enough yet.',
  Request: 'Somebody asked for it.',
  blocked: 'Cannot go on before something else happens.',
  'customer reported': 'A ferry line or a passenger told us.',
  accessibility: 'Concerns WCAG 2.2 or EN 301 549.',
  'good first issue': 'A gentle start for somebody new.',
};

/** Adds the labels of the whole workspace: a group of kinds, a group of release notes, and some without a group. */
export function addWorkspaceLabels(world: World): void {
  const adder = labelAdder(world, undefined, world.labels);
  adder.group('Kind', Object.values(kindLabels));
  adder.group('Release notes', ['Highlight', 'Mentioned', 'Silent']);
  for (const name of ['blocked', 'customer reported', 'accessibility', 'good first issue', 'privacy'])
    adder.label(name, null);
}

/** Adds the team's own labels: some without a group, and a group where the team has one. */
export function addTeamLabels(world: World, team: DemoTeam): void {
  const adder = labelAdder(world, team, team.labels);
  for (const name of team.facts.labels) adder.label(name, null);
  if (team.facts.labelGroup) adder.group(team.facts.labelGroup.name, team.facts.labelGroup.labels);
}

/** Only labels enter `known`: a group is never put on an issue. */
function labelAdder(world: World, team: DemoTeam | undefined, known: DemoLabel[]) {
  const random = new Random(`labels ${team?.code ?? 'of all'}`);
  const createdMs = team?.createdMs ?? world.calendar.daysAgo(885);
  const add = (name: string, groupId: string | null, isGroup: boolean): string => {
    const id = world.ids.uuid(createdMs);
    world.rows.label.push({
      workspaceId: world.workspaceId,
      id,
      teamId: team?.id ?? null,
      groupId,
      isGroup,
      name,
      nameFold: fold(name),
      description: descriptions[name] ?? '',
      color: random.pick(colors),
      createdUtc: new Date(createdMs),
      updatedUtc: new Date(createdMs),
    });
    return id;
  };
  const label = (name: string, groupId: string | null) => {
    known.push({ id: add(name, groupId, false), name, groupId });
  };
  const group = (name: string, labels: readonly string[]) => {
    const groupId = add(name, null, true);
    for (const member of labels) label(member, groupId);
  };
  return { label, group };
}
