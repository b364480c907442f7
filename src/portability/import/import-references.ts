import { insertRows } from '../../db/writes/insert-rows.ts';
import {
  selectDeliveriesNumbered,
  selectLabelsNamed,
  selectProjectKeys,
  selectProjectsByKey,
  selectStatusesOf,
  selectTeamCodes,
  selectTeamsByCode,
} from '../../db/imports.ts';
import type { Row } from '../../db/tables/tables.ts';
import type { LocalRow } from '../../db/tables/tenant-tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { statusCategory } from '../../model/codes.ts';
import { labelNamed } from '../directory/directory-labels.ts';
import { fold } from '../../model/fold.ts';
import { limits } from '../../model/limits.ts';
import { listExisting } from '../../model/nearest.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { CleanIssue } from './import-clean.ts';
import { logImported } from './import-events.ts';
import type { ImportTarget } from './import-people.ts';
import type { FoundStage } from './import-stages.ts';
import { isTerminal } from '../../resolvers/issues/status-rank.ts';

type StatusRow = Row<'status'>;

/** The rows of the workspace that an imported issue refers to. */
export interface IssueReferences {
  teamId: string;
  status: StatusRow;
  labelIds: string[];
  projectId: string | null;
  deliveryId: string | null;
  /** The stages in the source; empty if the source has no such data. */
  stages: FoundStage[];
  warnings: string[];
}

/** Finds the rows that the issues of a batch refer to. Missing labels are created in the issue's team. */
export class ImportReferences {
  readonly #target: ImportTarget;
  readonly #teams = new Map<string, Row<'team'>>();
  #statuses: StatusRow[] = [];
  #labels: LocalRow<'label'>[] = [];
  readonly #newLabels: LocalRow<'label'>[] = [];
  #projects: Pick<Row<'project'>, 'id' | 'key'>[] = [];
  #deliveries: Pick<Row<'delivery'>, 'id' | 'teamId' | 'number'>[] = [];
  /** The names that messages about unknown ones list; empty as long as every name is known. */
  #existing: { readonly codes: string[]; readonly keys: string[] } = { codes: [], keys: [] };

  constructor(target: ImportTarget) {
    this.#target = target;
  }

  async load(trx: Trx, issues: readonly CleanIssue[]): Promise<void> {
    const codes = [...new Set(issues.map((issue) => this.#codeOf(issue)))];
    for (const team of await selectTeamsByCode(trx, codes)) this.#teams.set(team.code, team);
    const teamIds = [...this.#teams.values()].map(({ id }) => id);
    this.#statuses = await selectStatusesOf(trx, teamIds);
    const names = new Set(
      issues.flatMap(({ labels, workspaceLabels = [] }) => [...labels, ...workspaceLabels]).map(fold),
    );
    this.#labels = await selectLabelsNamed(trx, teamIds, [...names]);
    const planned = issues.flatMap((issue) => [issue, ...(issue.stages ?? [])]);
    const keys = planned.flatMap(({ projectKey }) => projectKey ?? []);
    this.#projects = await selectProjectsByKey(trx, keys);
    const numbers = planned.flatMap(({ deliveryNumber }) => deliveryNumber ?? []);
    this.#deliveries = await selectDeliveriesNumbered(trx, teamIds, numbers);
    const areTeamsKnown = codes.every((code) => this.#teams.has(code));
    const areProjectsKnown = new Set(keys).size === this.#projects.length;
    this.#existing = {
      codes: areTeamsKnown ? [] : await selectTeamCodes(trx),
      keys: areProjectsKnown ? [] : await selectProjectKeys(trx),
    };
  }

  /** The rows that the issue refers to, or the reason why it is refused. */
  of(issue: CleanIssue): IssueReferences | { refused: string } {
    const code = this.#codeOf(issue);
    if (code === '') return { refused: 'its key names no team' };
    const team = this.#teams.get(code);
    if (!team)
      return { refused: `the workspace has no team ${code}${listExisting(code, this.#existing.codes)}` };
    const warnings: string[] = [];
    const status = this.#status(team.id, issue.status, warnings);
    if (!status) return { refused: `the team ${code} has no status for it` };
    return {
      teamId: team.id,
      status,
      labelIds: this.#labelIds(issue, team.id, warnings),
      projectId: this.#project(issue, warnings),
      deliveryId: this.#delivery(issue, team.id, warnings),
      stages: this.#stages(issue, team.id),
      warnings,
    };
  }

  /** Inserts the labels that `of` found missing, and returns their number. */
  async makeLabels(trx: Trx): Promise<number> {
    await insertRows(trx, 'label', this.#newLabels);
    await logImported(trx, 'label.created.v1', this.#newLabels);
    return this.#newLabels.length;
  }

  #codeOf({ teamCode }: CleanIssue): string {
    return this.#target.teamCode ?? teamCode ?? '';
  }

  #status(
    teamId: string,
    { name, category }: CleanIssue['status'],
    warnings: string[],
  ): StatusRow | undefined {
    const statuses = this.#statuses.filter((status) => status.teamId === teamId);
    const nameFold = name === undefined ? undefined : fold(name);
    const named = statuses.find((status) => status.nameFold === nameFold);
    if (named) return named;
    const initial = statuses.find(({ isInitial }) => isInitial);
    if (category === undefined && name !== undefined && initial)
      warnings.push(`the team has no status "${name}"; the issue gets "${initial.name}"`);
    if (category === undefined || category === statusCategory.open) return initial;
    const fitting = statuses.find((status) => status.category === category);
    if (fitting) return fitting;
    const closes = category === statusCategory.completed || category === statusCategory.canceled;
    const instead = closes ? statuses.find(({ rank }) => isTerminal(rank)) : initial;
    if (instead) warnings.push(`the team has no status of this category; the issue gets "${instead.name}"`);
    return instead;
  }

  /** The labels of an issue. Where the workspace lacks a label of `workspaceLabels`, that of the team is used. */
  #labelIds({ labels, workspaceLabels = [] }: CleanIssue, teamId: string, warnings: string[]): string[] {
    const named = labels.map((name) => this.#label(teamId, name, warnings));
    const ofWorkspace = workspaceLabels.map(
      (name) => labelNamed(this.#labels, null, name)?.id ?? this.#label(teamId, name, warnings),
    );
    const ids = [...named, ...ofWorkspace].filter((id) => id !== undefined);
    return [...new Set(ids)].slice(0, limits.labels);
  }

  #label(teamId: string, name: string, warnings: string[]): string | undefined {
    const known = labelNamed([...this.#labels, ...this.#newLabels], teamId, name);
    if (known) return known.id;
    const nameFold = fold(name);
    if (this.#labels.some((label) => label.teamId === teamId && label.nameFold === nameFold)) {
      warnings.push(`"${name}" is a group of labels and cannot be put on an issue`);
      return undefined;
    }
    const nowUtc = new Date();
    const [id, description, color] = [newUuid(), '', ''];
    const row = {
      id,
      teamId,
      groupId: null,
      isGroup: false,
      name,
      nameFold,
      description,
      color,
    };
    this.#newLabels.push({ ...row, createdUtc: nowUtc, updatedUtc: nowUtc });
    return id;
  }

  #project({ projectKey }: Pick<CleanIssue, 'projectKey'>, warnings: string[]): string | null {
    if (projectKey == null) return null;
    const project = this.#projects.find(({ key }) => key === projectKey);
    if (!project)
      warnings.push(
        `the workspace has no project ${projectKey}${listExisting(projectKey, this.#existing.keys)}`,
      );
    return project?.id ?? null;
  }

  /** An object that a past stage refers to may have been deleted. Then the stage does not refer to it. */
  #stages({ stages = [], teamCode }: CleanIssue, teamId: string): FoundStage[] {
    return stages.map(({ sinceUtc, statusName, projectKey, deliveryNumber, estimateValue, deleted }) => {
      const nameFold = statusName === undefined ? undefined : fold(statusName);
      const named = this.#statuses.find((status) => status.teamId === teamId && status.nameFold === nameFold);
      return {
        sinceUtc: sinceUtc ?? new Date(0),
        status: named ?? null,
        projectId: this.#project({ projectKey }, []),
        deliveryId: this.#delivery({ deliveryNumber, teamCode }, teamId, []),
        estimateValue: estimateValue ?? null,
        deleted,
      };
    });
  }

  #delivery(
    { deliveryNumber, teamCode }: Pick<CleanIssue, 'deliveryNumber' | 'teamCode'>,
    teamId: string,
    warnings: string[],
  ): string | null {
    if (deliveryNumber == null) return null;
    // The number refers to a delivery of the issue's own team. In another team, the same number is a different
    // delivery.
    const isOwnTeam = this.#target.teamCode === undefined || this.#target.teamCode === teamCode;
    const delivery = this.#deliveries.find(
      (each) => each.teamId === teamId && each.number === deliveryNumber,
    );
    if (delivery && isOwnTeam) return delivery.id;
    warnings.push(`the team has no delivery ${deliveryNumber}`);
    return null;
  }
}
