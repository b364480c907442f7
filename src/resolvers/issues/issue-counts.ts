import {
  addToDeliveryCounts,
  addToProjectCounts,
  type DeliveryCounts,
  type ProjectCounts,
} from '../../db/writes/issue-counts.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { statusCategory } from '../../model/codes.ts';

/** What the counts of deliveries and projects need to know of an issue. */
export interface CountedIssue {
  deliveryId: string | null;
  projectId: string | null;
  statusRank: number;
  estimateValue: number | null;
}

/** A status's category: its rank is category and position in one number. */
export function categoryOf(statusRank: number): number {
  return Math.floor(statusRank / 10_000);
}

/** What counts as what, for the statements that count for themselves. */
export const countedCategories = {
  completed: statusCategory.completed,
  canceled: statusCategory.canceled,
};

export function isTerminal(statusRank: number): boolean {
  const category = categoryOf(statusRank);
  return category === statusCategory.completed || category === statusCategory.canceled;
}

/** Takes issues as they were out of the counts of their deliveries and projects, and puts them in as they are. */
export async function moveCounts(
  trx: Trx,
  before: readonly CountedIssue[],
  after: readonly CountedIssue[],
): Promise<void> {
  const deliveries = new Map<string, DeliveryCounts>();
  const projects = new Map<string, ProjectCounts>();
  for (const [issues, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    for (const issue of issues) {
      if (issue.deliveryId) add(deliveries, issue.deliveryId, inDelivery(issue), sign);
      if (issue.projectId) add(projects, issue.projectId, inProject(issue), sign);
    }
  }
  await addToDeliveryCounts(trx, deliveries);
  await addToProjectCounts(trx, projects);
}

function inDelivery({ statusRank, estimateValue }: CountedIssue): DeliveryCounts {
  const closed = isTerminal(statusRank) ? 1 : 0;
  const estimate = estimateValue ?? 0;
  return {
    issueCount: 1,
    closedIssueCount: closed,
    estimatedScope: estimate,
    closedEstimate: closed * estimate,
  };
}

function inProject({ statusRank }: CountedIssue): ProjectCounts {
  const category = categoryOf(statusRank);
  return {
    issueCount: category === statusCategory.canceled ? 0 : 1,
    completedIssueCount: category === statusCategory.completed ? 1 : 0,
  };
}

function add<Counts extends DeliveryCounts | ProjectCounts>(
  sums: Map<string, Counts>,
  id: string,
  counts: Counts,
  sign: 1 | -1,
): void {
  const sum: Record<string, number> = { ...sums.get(id) };
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + sign * Number(count);
  // The same names as `counts` has, each a number.
  sums.set(id, sum as unknown as Counts);
}
