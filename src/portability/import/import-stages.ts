import type { Row } from '../../db/tables/tables.ts';
import type { NewRow } from '../../db/tables/tenant-tables.ts';
import { statusCategory } from '../../model/codes.ts';
import { categoryOf, isTerminal } from '../../resolvers/issues/status-rank.ts';
import type { CleanIssue } from './import-clean.ts';
import type { ImportedIssue, ImportedStage } from './import-issue.ts';
import type { IssueReferences } from './import-references.ts';
import { laterTime } from './import-texts.ts';

/** A stage whose names have been resolved to rows of the workspace. */
export interface FoundStage {
  sinceUtc: Date;
  /** Null if the status is unknown; then the issue is known not to have been closed. */
  status: Pick<Row<'status'>, 'id' | 'rank'> | null;
  deliveryId: string | null;
  projectId: string | null;
  estimateValue: number | null;
  deleted: boolean;
}

/** The stages of an issue in the order of their times; the first begins when the issue was created. */
export function cleanStages(
  raw: readonly ImportedStage[] | undefined,
  createdUtc: Date,
): ImportedIssue['stages'] {
  if (!raw?.length) return undefined;
  const inOrder = raw
    .map((stage) => ({ ...stage, sinceUtc: laterTime(stage.sinceUtc ?? createdUtc, createdUtc) }))
    .toSorted((left, right) => left.sinceUtc.getTime() - right.sinceUtc.getTime());
  return inOrder.map((stage, index) => (index === 0 ? { ...stage, sinceUtc: createdUtc } : stage));
}

/**
 * All stages of an imported issue: those of its source, or those that follow from the times of its creation, closing and
 * deletion. The last one has the present values of the issue.
 */
export function stagesOf(issue: CleanIssue, references: IssueReferences): FoundStage[] {
  const { createdUtc, updatedUtc, closedUtc, deletedUtc, estimateValue = null } = issue;
  const { status, deliveryId, projectId } = references;
  const present = { status, deliveryId, projectId, estimateValue, deleted: false };
  const stages = [...references.stages];
  if (stages.length === 0) {
    const isClosed = isTerminal(status.rank);
    const sinceUtc = isClosed ? (closedUtc ?? updatedUtc) : updatedUtc;
    if (isClosed || isActive(status)) {
      // The source does not say which status it had before it was started or closed.
      stages.push({ ...present, sinceUtc: createdUtc, status: null }, { ...present, sinceUtc });
    } else stages.push({ ...present, sinceUtc: createdUtc });
  }
  const now = { ...present, deleted: deletedUtc !== undefined };
  const last = stages.at(-1);
  if (last && !isSame(last, now))
    stages.push({ ...now, sinceUtc: laterTime(last.sinceUtc, deletedUtc ?? updatedUtc) });
  return stages;
}

function isSame(
  stage: FoundStage,
  { status, deliveryId, projectId, estimateValue, deleted }: StageValues,
): boolean {
  return (
    stage.status?.id === status?.id &&
    stage.deliveryId === deliveryId &&
    stage.projectId === projectId &&
    stage.estimateValue === estimateValue &&
    stage.deleted === deleted
  );
}

type StageValues = Omit<FoundStage, 'sinceUtc'>;

function isActive({ rank }: Pick<Row<'status'>, 'rank'>): boolean {
  return categoryOf(rank) === statusCategory.active;
}

/** The columns of the issue that follow from its stages. */
export function columnsOfStages(stages: readonly FoundStage[]) {
  const started = stages.findIndex(({ status }) => status && isActive(status));
  const isKnown = stages.slice(0, started).every(({ status }) => status !== null);
  return {
    startedUtc: isKnown ? (stages[started]?.sinceUtc ?? null) : null,
    stageCount: stages.length,
  };
}

export function stageRows(
  issueId: string,
  teamId: string,
  stages: readonly FoundStage[],
): NewRow<'issueStage'>[] {
  return stages.map(({ status, ...stage }, index) => ({
    previousStatusId: stages[index - 1]?.status?.id ?? null,
    previousDeleted: stages[index - 1]?.deleted ?? true,
    issueId,
    sortOrder: index + 1,
    untilUtc: stages[index + 1]?.sinceUtc ?? null,
    teamId,
    statusId: status?.id ?? null,
    ...stage,
  }));
}

/** The time since which the history of the issue is complete; undefined if it always was. */
export function historySinceUtc(issue: CleanIssue, stages: readonly FoundStage[]): Date | undefined {
  if (!issue.stages) return issue.updatedUtc;
  const unknown = stages.findLastIndex(({ status }) => status === null);
  return stages[unknown + 1] && unknown >= 0 ? stages[unknown + 1]?.sinceUtc : undefined;
}
