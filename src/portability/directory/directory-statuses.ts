import { isTerminalCategory } from '../../resolvers/issues/status-rank.ts';
import type { Row } from '../../db/tables/tables.ts';
import { statusCategory } from '../../model/codes.ts';
import type { TeamEntry } from './directory-file.ts';
import { type DirectoryPlan, timesOf } from './directory-plan.ts';
import { storedColumns } from './stored-fields.ts';
import { fold } from '../../model/fold.ts';
import { limits } from '../../model/limits.ts';

type StatusEntry = NonNullable<TeamEntry['statuses']>[number];

/** Plans the statuses of a team, matched by name. A new team without statuses in the file gets the default ones. */
export function planStatuses(
  plan: DirectoryPlan,
  path: string,
  team: Row<'team'>,
  fileEntries: readonly StatusEntry[] | undefined,
): void {
  const entries = fileEntries ?? (plan.isNew(team.id) ? defaultStatuses : []);
  if (entries.length === 0 && !plan.isNew(team.id)) return;
  const initial = initialStatus(plan, path, team, entries);
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const nameFold = fold(entry.name);
    plan.violations.addUnless(
      !seen.has(nameFold),
      `${path}[${index}]`,
      `"${entry.name}" occurs twice in this list`,
    );
    seen.add(nameFold);
    putStatus(plan, `${path}[${index}]`, team, entry, nameFold === initial);
  }
  const ofTeam = plan.rows.status.filter(({ teamId }) => teamId === team.id);
  plan.violations.addUnless(
    ofTeam.length <= limits.statuses,
    path,
    `a team has at most ${limits.statuses} statuses`,
  );
  for (const other of plan.rows.status) {
    if (other.teamId !== team.id || !other.isInitial || other.nameFold === initial) continue;
    const name = `${team.code}: ${other.name}`;
    plan.put('status', { kind: 'status', name, existing: other, wanted: { isInitial: false }, defaults: {} });
  }
}

const defaultStatuses: readonly StatusEntry[] = [
  { name: 'Backlog', category: statusCategory.backlog, color: '#8a8f98' },
  { name: 'Todo', category: statusCategory.open, color: '#5e6ad2', isInitial: true },
  { name: 'In Progress', category: statusCategory.active, color: '#f2c94c' },
  { name: 'Done', category: statusCategory.completed, color: '#4cb782' },
  { name: 'Canceled', category: statusCategory.canceled, color: '#95a2b3' },
];

/** The folded name of the initial status of the team's issues. */
function initialStatus(
  plan: DirectoryPlan,
  path: string,
  team: Row<'team'>,
  entries: readonly StatusEntry[],
): string {
  const wanted = entries.filter(({ isInitial }) => isInitial === true);
  const present = plan.rows.status.find(({ teamId, isInitial }) => teamId === team.id && isInitial);
  plan.violations.addUnless(wanted.length < 2, path, 'only one may have isInitial');
  if (wanted[0] && !(present && plan.keepExisting)) return fold(wanted[0].name);
  if (present) {
    const unset = entries.findIndex(
      ({ name, isInitial }) => isInitial === false && fold(name) === present.nameFold,
    );
    plan.violations.addUnless(
      unset < 0,
      `${path}[${unset}].isInitial`,
      'set isInitial on another status instead',
    );
    return present.nameFold;
  }
  const first =
    entries.find(({ category }) => category === statusCategory.open) ??
    entries.find(({ category }) => !isTerminalCategory(category));
  if (!first)
    plan.violations.add(
      path,
      'a team needs an initial status for its issues (category backlog, open or active)',
    );
  return fold(first?.name ?? '');
}

function putStatus(
  plan: DirectoryPlan,
  path: string,
  team: Row<'team'>,
  entry: StatusEntry,
  isInitial: boolean,
): void {
  const { name, category } = entry;
  const ofTeam = plan.rows.status.filter(({ teamId }) => teamId === team.id);
  const existing = ofTeam.find(({ nameFold }) => nameFold === fold(name));
  if (existing && !plan.keepExisting && kindOf(existing.category) !== kindOf(category))
    plan.recategorized.set(existing.id, `${path}.category`);
  const last = ofTeam.reduce((highest, status) => Math.max(highest, status.position), -1);
  plan.put('status', {
    kind: 'status',
    name: `${team.code}: ${name}`,
    existing,
    wanted: {
      ...storedColumns('status', entry),
      isTerminal: isTerminalCategory(category),
      isInitial,
    },
    defaults: {
      teamId: team.id,
      position: Math.min(last + 1, 9_999),
      ...timesOf({}, plan.isNew(team.id) ? team.createdUtc : undefined),
    },
  });
}

/** The part of a category that closing times and the counts of deliveries and projects depend on. */
function kindOf(category: number): number {
  return isTerminalCategory(category) ? category : 0;
}
