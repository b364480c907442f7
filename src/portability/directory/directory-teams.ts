import type { Row } from '../../db/tables/tables.ts';
import { deliveryState, teamState } from '../../model/codes.ts';
import type { TeamEntry } from './directory-file.ts';
import { planLabels } from './directory-labels.ts';
import { memberNamed } from './directory-members.ts';
import { type DirectoryPlan, timesOf } from './directory-plan.ts';
import { planStatuses } from './directory-statuses.ts';
import { storedColumns } from './stored-fields.ts';
import { fold } from '../../model/fold.ts';
import { limits } from '../../model/limits.ts';

type TeamRow = Row<'team'>;

/** Plans teams with everything that belongs to them. Teams are matched by code. */
export function planTeams(plan: DirectoryPlan, entries: readonly TeamEntry[]): void {
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = `teams[${index}]`;
    plan.violations.addUnless(
      !seen.has(entry.code),
      `${path}.code`,
      `the team ${entry.code} occurs twice in the file`,
    );
    seen.add(entry.code);
    const team = putTeam(plan, path, entry);
    planTeamMembers(plan, path, team, entry.members ?? []);
    planStatuses(plan, `${path}.statuses`, team, entry.statuses);
    const createdUtc = plan.isNew(team.id) ? team.createdUtc : undefined;
    const owner = { teamId: team.id, teamCode: team.code, createdUtc, path: `${path}.labels` };
    planLabels(plan, owner, entry.labels ?? []);
    planDeliveries(plan, path, team, entry.deliveries ?? []);
    planRepositories(plan, path, team, entry.repositories ?? []);
  }
  plan.violations.addUnless(
    plan.rows.team.length <= limits.teams,
    'teams',
    `a workspace has at most ${limits.teams} teams`,
  );
}

/**
 * Converts a name to a slug for URLs. If the name has no letter of a-z and no digit, the slug is made of `fallback`.
 */
export function slugOf(name: string, fallback: string): string {
  const slug = fold(name)
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 100)
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? fallback.toLowerCase() : slug;
}

function putTeam(plan: DirectoryPlan, path: string, entry: TeamEntry): TeamRow {
  const { code, name } = entry;
  const existing = plan.rows.team.find((team) => team.code === code);
  const lead = entry.lead ? memberNamed(plan, `${path}.lead`, entry.lead) : undefined;
  const team = plan.put('team', {
    kind: 'team',
    name: code,
    existing,
    wanted: {
      ...storedColumns('team', entry),
      leadUserAccountId: entry.lead === null ? null : lead?.userAccountId,
    },
    defaults: {
      code,
      name: code,
      nameFold: fold(code),
      slug: slugOf(name ?? code, code),
      state: teamState.active,
      leadUserAccountId: null,
      deliveriesEnabled: (entry.deliveries ?? []).length > 0,
      ...timesOf(entry),
    },
  });
  if (!existing) plan.startCounter(team.id);
  return team;
}

function planTeamMembers(plan: DirectoryPlan, path: string, team: TeamRow, people: readonly string[]): void {
  for (const [index, text] of people.entries()) {
    const member = memberNamed(plan, `${path}.members[${index}]`, text);
    if (!member) continue;
    plan.join(
      'teamMember',
      {
        kind: 'team',
        name: team.code,
        id: team.id,
        teamId: team.id,
        field: 'members',
        addition: member.displayName,
      },
      { teamId: team.id, userAccountId: member.userAccountId },
    );
  }
}

function planDeliveries(
  plan: DirectoryPlan,
  teamPath: string,
  team: TeamRow,
  entries: NonNullable<TeamEntry['deliveries']>,
): void {
  const seen = new Set<number>();
  for (const [index, entry] of entries.entries()) {
    const path = `${teamPath}.deliveries[${index}]`;
    const { number, startsOn, endsOn } = entry;
    plan.violations.addUnless(
      !seen.has(number),
      `${path}.number`,
      `delivery ${number} occurs twice in this list`,
    );
    plan.violations.addUnless(endsOn >= startsOn, `${path}.endsOn`, 'must not be before startsOn');
    seen.add(number);
    const title = `Delivery ${number}`;
    plan.put('delivery', {
      kind: 'delivery',
      name: `${team.code}: ${number}`,
      existing: plan.rows.delivery.find((row) => row.teamId === team.id && row.number === number),
      wanted: storedColumns('delivery', entry),
      defaults: {
        teamId: team.id,
        number,
        name: title,
        nameFold: fold(title),
        state: deliveryState.planned,
        ...timesOf(entry),
      },
    });
  }
}

type RepositoryEntry = NonNullable<TeamEntry['repositories']>[number];

function planRepositories(
  plan: DirectoryPlan,
  teamPath: string,
  team: TeamRow,
  entries: readonly RepositoryEntry[],
): void {
  const path = `${teamPath}.repositories`;
  const defaults = entries.filter((entry) => entry.isDefaultForAgents);
  plan.violations.addUnless(defaults.length < 2, path, 'only one may have isDefaultForAgents');
  const keepsDefault =
    plan.keepExisting && plan.rows.repository.some((row) => row.teamId === team.id && row.isDefaultForAgents);
  const seen = new Set<Row<'repository'>>();
  for (const [index, entry] of entries.entries()) {
    const row = putRepository(plan, team, keepsDefault ? { ...entry, isDefaultForAgents: false } : entry);
    plan.violations.addUnless(
      !seen.has(row),
      `${path}[${index}]`,
      'is a repository that occurs twice in this list',
    );
    seen.add(row);
  }
  const [chosen] = defaults;
  if (!chosen || plan.keepExisting) return;
  const keeps = repositoryNamed(plan, team, chosen);
  for (const other of plan.rows.repository) {
    if (other === keeps || other.teamId !== team.id || !other.isDefaultForAgents) continue;
    const name = `${team.code}: ${other.externalRepositoryFullName || other.externalRepositoryName}`;
    const wanted = { isDefaultForAgents: false };
    plan.put('repository', { kind: 'repository', name, existing: other, wanted, defaults: {} });
  }
}

function repositoryNamed(
  plan: DirectoryPlan,
  team: TeamRow,
  entry: RepositoryEntry,
): Row<'repository'> | undefined {
  const wanted = fold(entry.externalRepositoryFullName);
  return plan.rows.repository.find(
    (row) =>
      row.teamId === team.id &&
      row.provider === entry.provider &&
      fold(row.externalRepositoryFullName) === wanted,
  );
}

function putRepository(plan: DirectoryPlan, team: TeamRow, entry: RepositoryEntry): Row<'repository'> {
  const { externalRepositoryFullName: fullName, externalRepositoryName: name } = entry;
  const short = fullName.slice(fullName.lastIndexOf('/') + 1) || fullName;
  return plan.put('repository', {
    kind: 'repository',
    name: `${team.code}: ${fullName}`,
    existing: repositoryNamed(plan, team, entry),
    wanted: {
      ...storedColumns('repository', entry),
      ...(name !== undefined && { externalRepositoryNameFold: fold(name) }),
      ...(entry.externalProjectName !== undefined && {
        externalProjectNameFold: fold(entry.externalProjectName),
      }),
      ...(entry.defaultBranch !== undefined && { defaultBranchFold: fold(entry.defaultBranch) }),
    },
    defaults: {
      teamId: team.id,
      externalRepositoryName: short,
      externalRepositoryNameFold: fold(short),
      ...timesOf(entry),
    },
  });
}
