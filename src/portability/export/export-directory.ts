import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import { selectDirectory } from '../../db/directory.ts';
import type { DirectoryRows } from '../../db/directory.ts';
import type { Row } from '../../db/tables/tables.ts';
import { withoutEmpty } from '../directory/code-words.ts';
import { storedFieldsOf } from '../directory/stored-fields.ts';

/** The exported teams, ordered by code, and the directory file with everything that their issues refer to. */
export interface ExportedDirectory {
  teams: Row<'team'>[];
  directory: Record<string, unknown>;
}

/**
 * Exports what the issues of a workspace or of one team refer to: statuses, labels, deliveries, projects. Members are
 * not exported: an import finds them by address and name, and must not give anyone a role.
 */
export async function exportDirectory(db: TenantDb, teamId: string | undefined): Promise<ExportedDirectory> {
  const rows = await selectDirectory(db);
  const teams = rows.team
    .filter(({ id }) => teamId === undefined || id === teamId)
    .toSorted((left, right) => (left.code < right.code ? -1 : 1));
  const codes = new Map(teams.map(({ id, code }) => [id, code]));
  const projects = rows.project
    .filter((project) => codes.has(project.teamId))
    .toSorted(byText(({ key }) => key));
  const directory = {
    labels: labelEntries(rows.label, null),
    teams: teams.map((team) => teamEntry(rows, team)),
    projectStatuses: rows.projectStatus
      .toSorted(byPosition)
      .map((status) => withoutEmpty(storedFieldsOf('projectStatus', status))),
    projects: projects.map((project) => projectEntry(rows, project, codes.get(project.teamId) ?? '')),
  };
  return { teams, directory };
}

function teamEntry(rows: DirectoryRows, team: Row<'team'>): Record<string, unknown> {
  const isOfTeam = ({ teamId }: { teamId: string }) => teamId === team.id;
  return withoutEmpty({
    code: team.code,
    ...storedFieldsOf('team', team),
    statuses: rows.status
      .filter(isOfTeam)
      .toSorted(byPosition)
      .map((status) =>
        withoutEmpty({
          ...storedFieldsOf('status', status),
          isInitial: status.isInitial || undefined,
        }),
      ),
    labels: labelEntries(rows.label, team.id),
    deliveries: rows.delivery
      .filter(isOfTeam)
      .toSorted((left, right) => left.number - right.number)
      .map((delivery) => withoutEmpty({ number: delivery.number, ...storedFieldsOf('delivery', delivery) })),
  });
}

/** The labels of a team or of the workspace. The labels of a group are nested in it. */
function labelEntries(labels: readonly Row<'label'>[], teamId: string | null): Record<string, unknown>[] {
  const own = labels.filter((label) => label.teamId === teamId).toSorted(byText(({ nameFold }) => nameFold));
  const groups = new Set(own.filter(({ isGroup }) => isGroup).map(({ id }) => id));
  const entry = (label: Row<'label'>) => withoutEmpty(storedFieldsOf('label', label));
  return own
    .filter(({ groupId }) => groupId === null || !groups.has(groupId))
    .map((label) => {
      if (!label.isGroup) return entry(label);
      return { ...entry(label), labels: own.filter(({ groupId }) => groupId === label.id).map(entry) };
    });
}

function projectEntry(rows: DirectoryRows, project: Row<'project'>, team: string): Record<string, unknown> {
  const labels = new Set(
    rows.projectLabel.filter(({ projectId }) => projectId === project.id).map(({ labelId }) => labelId),
  );
  return withoutEmpty({
    key: project.key,
    team,
    ...storedFieldsOf('project', project),
    status: rows.projectStatus.find(({ id }) => id === project.statusId)?.name,
    labels: rows.label
      .filter(({ id, teamId }) => labels.has(id) && (teamId === null || teamId === project.teamId))
      .toSorted(byText(({ nameFold }) => nameFold))
      .map((label) => label.name),
  });
}

function byPosition(left: { position: number }, right: { position: number }): number {
  return left.position - right.position;
}

function byText<Of>(text: (row: Of) => string): (left: Of, right: Of) => number {
  return (left, right) => (text(left) < text(right) ? -1 : 1);
}
