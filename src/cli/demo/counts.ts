import { projectState, statusCategory } from '../../model/codes.ts';
import type { IssueRecord } from './issue-record.ts';
import type { World } from './world.ts';

/** The slot that holds the demo's counts; the service adds to slots of its own and sums them all. */
const slot = 0;

/** Adds what deliveries, projects and teams count, from the issues that live. */
export function addCounts(world: World, records: readonly IssueRecord[]): void {
  const { workspaceId, rows } = world;
  const living = records.filter((record) => record.draft.deletedMs === undefined);
  const byDelivery = Map.groupBy(living, (record) => record.delivery?.id);
  const byProject = Map.groupBy(living, (record) => record.project?.id);
  for (const { id } of rows.delivery) {
    const issues = byDelivery.get(id) ?? [];
    const closed = issues.filter((record) => !record.isOpen);
    rows.deliveryCount.push({
      workspaceId,
      deliveryId: id,
      slot,
      issueCount: issues.length,
      closedIssueCount: closed.length,
      estimatedScope: estimateOf(issues),
      closedEstimate: estimateOf(closed),
    });
  }
  for (const { id } of rows.project) {
    const issues = (byProject.get(id) ?? []).filter(
      (record) => record.status.category !== statusCategory.canceled,
    );
    const completedIssueCount = issues.filter(
      (record) => record.status.category === statusCategory.completed,
    ).length;
    rows.projectCount.push({
      workspaceId,
      projectId: id,
      slot,
      issueCount: issues.length,
      completedIssueCount,
    });
  }
  for (const team of rows.team) {
    const active = rows.project.filter(
      (project) => project.teamId === team.id && project.state === projectState.active,
    );
    team.activeProjectCount = active.length;
  }
}

function estimateOf(records: readonly IssueRecord[]): number {
  return records.reduce((sum, record) => sum + (record.estimate ?? 0), 0);
}
