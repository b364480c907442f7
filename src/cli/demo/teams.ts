import { memberStatus, teamState } from '../../model/codes.ts';
import { fold } from '../../model/fold.ts';
import { addDeliveries } from './deliveries.ts';
import { addTeamLabels } from './labels.ts';
import { addRepositories } from './repositories.ts';
import { addStatuses } from './statuses.ts';
import { type TeamCode, type TeamFacts, teamList } from './team-list.ts';
import { type DemoTeam, memberOf, type World } from './world.ts';

/** Adds the teams with their members, statuses, labels, deliveries and repositories. */
export function addTeams(world: World): void {
  for (const [code, facts] of Object.entries(teamList) as [TeamCode, TeamFacts][]) {
    const team = newTeam(world, code, facts);
    world.teams.set(code, team);
    addTeamRows(world, team);
    addStatuses(world, team);
    addTeamLabels(world, team);
    addDeliveries(world, team);
    addRepositories(world, team);
  }
}

function newTeam(world: World, code: TeamCode, facts: TeamFacts): DemoTeam {
  const createdMs = world.calendar.daysAgo(facts.createdDaysAgo) + 9 * 3_600_000;
  return {
    id: world.ids.uuid(createdMs),
    code,
    facts,
    lead: facts.lead && memberOf(world, facts.lead),
    members: [...world.members.values()].filter((member) => member.teamCodes.includes(code)),
    createdMs,
    endedMs: facts.endedDaysAgo === undefined ? undefined : world.calendar.daysAgo(facts.endedDaysAgo),
    statuses: [],
    labels: [],
    deliveries: [],
    projects: [],
  };
}

/** The counter and the number of active projects are set once the issues and projects are known. */
function addTeamRows(world: World, team: DemoTeam): void {
  const { workspaceId, rows } = world;
  const { name, slug, description, iconCss, color, state, cycle } = team.facts;
  rows.team.push({
    workspaceId,
    id: team.id,
    name,
    nameFold: fold(name),
    code: team.code,
    slug,
    description,
    iconCss,
    color,
    state: teamState[state],
    leadUserAccountId: team.lead?.userAccountId ?? null,
    memberCount: team.members.filter((member) => member.status === memberStatus.active).length,
    deliveriesEnabled: cycle !== undefined,
    createdUtc: new Date(team.createdMs),
    updatedUtc: new Date(team.endedMs ?? team.createdMs),
  });
  for (const { userAccountId } of team.members)
    rows.teamMember.push({ workspaceId, teamId: team.id, userAccountId });
}
