import type { Row } from '../../db/tables/tables.ts';
import type { LabelEntry } from './directory-file.ts';
import { type DirectoryPlan, timesOf } from './directory-plan.ts';
import { fold } from '../../model/fold.ts';

/** Whose labels are planned: a team's, or with a null id the workspace's. */
interface LabelOwner {
  teamId: string | null;
  teamCode?: string;
  /** When it was made, if the file makes it: its labels were made with it. */
  madeUtc: Date | undefined;
  path: string;
}

/** Plans labels, groups before the labels in them; matched by name within the team or the workspace. */
export function planLabels(plan: DirectoryPlan, owner: LabelOwner, entries: readonly LabelEntry[]): void {
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = `${owner.path}[${index}]`;
    const row = planLabel(plan, owner, entry, { path, seen, isGroup: entry.labels !== undefined });
    for (const [within, member] of (entry.labels ?? []).entries()) {
      planLabel(plan, owner, member, {
        path: `${path}.labels[${within}]`,
        seen,
        isGroup: false,
        groupId: row?.id,
      });
    }
  }
}

/** The label that may be put on a thing of the team, by its name: the team's own before the workspace's. */
export function labelNamed<Label extends Pick<Row<'label'>, 'nameFold' | 'isGroup' | 'teamId'>>(
  rows: readonly Label[],
  teamId: string,
  name: string,
): Label | undefined {
  const wanted = fold(name);
  const found = rows.filter((row) => row.nameFold === wanted && !row.isGroup);
  return found.find((row) => row.teamId === teamId) ?? found.find((row) => row.teamId === null);
}

function planLabel(
  plan: DirectoryPlan,
  { teamId, teamCode, madeUtc }: LabelOwner,
  { name, description, color }: Omit<LabelEntry, 'labels'>,
  place: { path: string; seen: Set<string>; isGroup: boolean; groupId?: string | undefined },
): Row<'label'> | undefined {
  const nameFold = fold(name);
  const existing = plan.rows.label.find((row) => row.teamId === teamId && row.nameFold === nameFold);
  plan.violations.that(!place.seen.has(nameFold), place.path, `"${name}" stands in this list before`);
  place.seen.add(nameFold);
  if (existing && existing.isGroup !== place.isGroup) {
    const is = existing.isGroup ? 'a group of labels' : 'a label and no group';
    plan.violations.add(place.path, `"${name}" is ${is} already; that cannot be changed`);
    return undefined;
  }
  return plan.put('label', {
    kind: place.isGroup ? 'label group' : 'label',
    name: teamCode ? `${teamCode}: ${name}` : name,
    existing,
    wanted: { name, nameFold, description, color, groupId: place.groupId },
    defaults: { teamId, isGroup: place.isGroup, groupId: null, ...timesOf({}, madeUtc) },
  });
}
