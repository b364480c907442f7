import type { Row } from '../../db/tables/tables.ts';
import { priority, projectState } from '../../model/codes.ts';
import type { DirectoryFile, ProjectEntry } from './directory-file.ts';
import { labelNamed } from './directory-labels.ts';
import { isOwner, memberNamed } from './directory-members.ts';
import { type DirectoryPlan, timesOf } from './directory-plan.ts';
import { slugOf } from './directory-teams.ts';
import { storedColumns } from './stored-fields.ts';
import { fold } from '../../model/fold.ts';
import { limits } from '../../model/limits.ts';
import { listExisting } from '../../model/nearest.ts';

type ProjectRow = Row<'project'>;
type ProjectStatusEntry = NonNullable<DirectoryFile['projectStatuses']>[number];

/**
 * Plans the statuses of projects, matched by name. A workspace without any gets the default ones with its first
 * project.
 */
export function planProjectStatuses(plan: DirectoryPlan, file: DirectoryFile): void {
  const needsDefaults = plan.rows.projectStatus.length === 0 && (file.projects ?? []).length > 0;
  const entries = file.projectStatuses ?? (needsDefaults ? defaultProjectStatuses : []);
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const { name } = entry;
    const nameFold = fold(name);
    plan.violations.addUnless(
      !seen.has(nameFold),
      `projectStatuses[${index}]`,
      `"${name}" occurs twice in this list`,
    );
    seen.add(nameFold);
    const last = plan.rows.projectStatus.reduce((highest, row) => Math.max(highest, row.position), -1);
    plan.put('projectStatus', {
      kind: 'project status',
      name,
      existing: plan.rows.projectStatus.find((row) => row.nameFold === nameFold),
      wanted: storedColumns('projectStatus', entry),
      defaults: { position: Math.min(last + 1, 9_999), ...timesOf({}, plan.workspaceCreatedUtc) },
    });
  }
}

/** Plans projects with their members, labels and links. Projects are matched by key. */
export function planProjects(plan: DirectoryPlan, entries: readonly ProjectEntry[]): void {
  const seen = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = `projects[${index}]`;
    plan.violations.addUnless(
      !seen.has(entry.key),
      `${path}.key`,
      `the project ${entry.key} occurs twice in the file`,
    );
    seen.add(entry.key);
    const project = putProject(plan, path, entry);
    if (!project) continue;
    planProjectMembers(plan, path, project, entry.members ?? []);
    planProjectLabels(plan, path, project, entry.labels ?? []);
    planProjectLinks(plan, path, project, entry.links ?? []);
  }
}

const defaultProjectStatuses: readonly ProjectStatusEntry[] = [
  { name: 'Planned', state: projectState.planned },
  { name: 'Active', state: projectState.active },
  { name: 'Paused', state: projectState.paused },
  { name: 'Completed', state: projectState.completed },
  { name: 'Canceled', state: projectState.canceled },
];

function putProject(plan: DirectoryPlan, path: string, entry: ProjectEntry): ProjectRow | undefined {
  const { key } = entry;
  const existing = plan.rows.project.find((project) => project.key === key);
  const lead = entry.lead ? memberNamed(plan, `${path}.lead`, entry.lead) : undefined;
  const team = entry.team === undefined ? undefined : plan.rows.team.find(({ code }) => code === entry.team);
  const { team: code } = entry;
  if (code !== undefined && !team)
    plan.violations.add(`${path}.team`, () => {
      const codes = plan.rows.team.map(({ code }) => code);
      return `no team has the code ${code}${listExisting(code, codes)}`;
    });
  if (entry.team === undefined && !existing)
    plan.violations.add(`${path}.team`, 'a new project needs a team');
  const status = projectStatus(plan, path, entry, existing);
  if (!existing && (!team || !status)) return undefined;
  return plan.put('project', {
    kind: 'project',
    name: key,
    existing,
    wanted: {
      teamId: team?.id,
      ...storedColumns('project', entry),
      ...(status && { statusId: status.id, state: status.state, statusPosition: status.position }),
      leadUserAccountId: entry.lead === null ? null : lead?.userAccountId,
      leadDisplayNameFold: entry.lead === null ? null : lead?.displayNameFold,
    },
    defaults: newProject(entry),
  });
}

function newProject({ key, name, ...entry }: ProjectEntry): Partial<ProjectRow> {
  return {
    key,
    name: key,
    nameFold: fold(key),
    slug: slugOf(name ?? key, key),
    priority: priority.none,
    leadUserAccountId: null,
    leadDisplayNameFold: null,
    ...timesOf(entry),
  };
}

/** The status in the file. A new project without one gets the first planned status. */
function projectStatus(
  plan: DirectoryPlan,
  path: string,
  entry: ProjectEntry,
  existing: ProjectRow | undefined,
): Row<'projectStatus'> | undefined {
  const statuses = plan.rows.projectStatus.toSorted((left, right) => left.position - right.position);
  if (entry.status !== undefined) {
    const nameFold = fold(entry.status);
    const found = statuses.find((status) => status.nameFold === nameFold);
    if (!found) {
      const { status } = entry;
      plan.violations.add(`${path}.status`, () => {
        const names = statuses.map(({ name }) => name);
        return `no project status is called "${status}"${listExisting(status, names)}`;
      });
    }
    return found;
  }
  // An existing project keeps its status. If the status itself changed, the database updates the copies in the project.
  if (existing) return undefined;
  const first = statuses.find(({ state }) => state === projectState.planned) ?? statuses[0];
  if (!first) plan.violations.add(`${path}.status`, 'the workspace has no project statuses');
  return first;
}

const ownerOf = ({ key: name, id, teamId }: ProjectRow) => ({ kind: 'project', name, id, teamId });

function planProjectMembers(
  plan: DirectoryPlan,
  path: string,
  project: ProjectRow,
  people: readonly string[],
): void {
  for (const [index, text] of people.entries()) {
    const member = memberNamed(plan, `${path}.members[${index}]`, text);
    if (!member) continue;
    plan.join(
      'projectMember',
      { ...ownerOf(project), field: 'members', addition: member.displayName },
      { projectId: project.id, userAccountId: member.userAccountId },
    );
  }
  const count = plan.rows.projectMember.filter(({ projectId }) => projectId === project.id).length;
  plan.violations.addUnless(
    count <= limits.projectMembers,
    `${path}.members`,
    `a project has at most ${limits.projectMembers}`,
  );
}

function planProjectLabels(
  plan: DirectoryPlan,
  path: string,
  project: ProjectRow,
  names: readonly string[],
): void {
  for (const [index, name] of names.entries()) {
    const label = labelNamed(plan.rows.label, project.teamId, name);
    if (!label) {
      plan.violations.add(
        `${path}.labels[${index}]`,
        () =>
          `no label of the team or the workspace is called "${name}"${listExisting(name, labelNames(plan, project))}`,
      );
      continue;
    }
    plan.join(
      'projectLabel',
      { ...ownerOf(project), field: 'labels', addition: label.name },
      { projectId: project.id, labelId: label.id },
    );
  }
  const count = plan.rows.projectLabel.filter(({ projectId }) => projectId === project.id).length;
  plan.violations.addUnless(
    count <= limits.projectLabels,
    `${path}.labels`,
    `a project has at most ${limits.projectLabels}`,
  );
}

/** The labels that a project may have, those of its team first. */
function labelNames(plan: DirectoryPlan, { teamId }: ProjectRow): string[] {
  return plan.rows.label
    .filter((label) => !label.isGroup && (label.teamId === teamId || label.teamId === null))
    .toSorted((left, right) => Number(left.teamId === null) - Number(right.teamId === null))
    .map(({ name }) => name);
}

function planProjectLinks(
  plan: DirectoryPlan,
  path: string,
  project: ProjectRow,
  links: NonNullable<ProjectEntry['links']>,
): void {
  for (const [index, { url, title, createdBy, createdUtc }] of links.entries()) {
    const named =
      createdBy === undefined ? undefined : memberNamed(plan, `${path}.links[${index}].createdBy`, createdBy);
    const creator =
      named?.userAccountId ?? project.leadUserAccountId ?? plan.rows.member.find(isOwner)?.userAccountId;
    if (!creator) {
      plan.violations.add(
        `${path}.links[${index}].createdBy`,
        'is required, because the project has no lead and the workspace has no owner',
      );
      continue;
    }
    plan.put('projectLink', {
      kind: 'project link',
      name: `${project.key}: ${url}`,
      existing: plan.rows.projectLink.find((row) => row.projectId === project.id && row.url === url),
      wanted: { title },
      defaults: { projectId: project.id, url, createdByUserAccountId: creator, createdUtc },
    });
  }
}
