import type { Row } from '../../db/tables/tables.ts';
import type { LabelEntry } from './directory-file.ts';
import { type DirectoryPlan, timesOf } from './directory-plan.ts';
import { storedColumns } from './stored-fields.ts';
import { fold } from '../../model/fold.ts';

/** The owner of the planned labels: a team, or the workspace if `teamId` is null. */
interface LabelOwner {
  teamId: string | null;
  teamCode?: string;
  /** When the owner was created, if the file creates it. Its labels get the same creation time. */
  createdUtc: Date | undefined;
  path: string;
}

/** Plans labels, groups before their labels. Labels are matched by name within the team or the workspace. */
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

/**
 * Finds a label that an object of the team can have, by name. A label of the team precedes one of the workspace. Without a team,
 * only labels of the workspace are found.
 */
export function labelNamed<Label extends Pick<Row<'label'>, 'nameFold' | 'isGroup' | 'teamId'>>(
  rows: readonly Label[],
  teamId: string | null,
  name: string,
): Label | undefined {
  const wanted = fold(name);
  const found = rows.filter((row) => row.nameFold === wanted && !row.isGroup);
  return found.find((row) => row.teamId === teamId) ?? found.find((row) => row.teamId === null);
}

function planLabel(
  plan: DirectoryPlan,
  { teamId, teamCode, createdUtc }: LabelOwner,
  entry: Omit<LabelEntry, 'labels'>,
  context: { path: string; seen: Set<string>; isGroup: boolean; groupId?: string | undefined },
): Row<'label'> | undefined {
  const { name } = entry;
  const nameFold = fold(name);
  const existing = plan.rows.label.find((row) => row.teamId === teamId && row.nameFold === nameFold);
  plan.violations.addUnless(!context.seen.has(nameFold), context.path, `"${name}" occurs twice in this list`);
  context.seen.add(nameFold);
  if (existing && existing.isGroup !== context.isGroup) {
    const is = existing.isGroup ? 'a group of labels' : 'a label, not a group';
    plan.violations.add(context.path, `"${name}" is already ${is}; that cannot be changed`);
    return undefined;
  }
  return plan.put('label', {
    kind: context.isGroup ? 'label group' : 'label',
    name: teamCode ? `${teamCode}: ${name}` : name,
    existing,
    wanted: { ...storedColumns('label', entry), groupId: context.groupId },
    defaults: { teamId, isGroup: context.isGroup, groupId: null, ...timesOf({}, createdUtc) },
  });
}
