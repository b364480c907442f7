import { type ChangeableColumn, issueChanges } from '../db/issue-change.ts';
import type { IssueRow } from '../db/issues.ts';
import type { Sending } from '../db/prepared.ts';
import { feedEntry } from './activity.ts';
import type { Principal } from './context.ts';
import { fold } from './fold.ts';
import { countedCategories, isTerminal } from './issue-counts.ts';
import { deedOf } from './issue-deeds.ts';
import type { IssueChange, IssueFieldsInput } from './issue-input.ts';
import type { References } from './issue-references.ts';
import type { ExpectedRevision } from './revisions.ts';

/** Does a change set nothing but columns of the issue: what else there is must be read again under its lock. */
export function standsAlone(input: IssueFieldsInput): boolean {
  return [
    input.primaryAssigneeUserAccountId,
    input.assigneeUserAccountIds,
    input.labelIds,
    input.parentIssueId,
    input.roleAssignments,
  ].every((value) => value === undefined);
}

/** A change that breaks no rule, and the issue that it is for. */
interface CheckedChange {
  id: string | undefined;
  change: IssueChange;
  references: References;
  expectedRevision: ExpectedRevision;
}

/** Makes a change that stands alone; no row when the issue is gone, or at another revision. */
export function sendChange(
  sending: Sending,
  principal: Principal,
  { id, change, references, expectedRevision }: CheckedChange,
): Promise<IssueRow[]> {
  const { title, description, priority, projectId, deliveryId, estimateValue, dueDate } = change;
  const status = change.statusId && references.find('status', change.statusId);
  const set: Partial<Record<ChangeableColumn, string | number | null>> = {
    ...(title !== undefined && { title, titleFold: fold(title) }),
    ...(description !== undefined && { description }),
    ...(priority !== undefined && { priority }),
    ...(status && { statusId: status.id, statusRank: status.code }),
    ...(projectId !== undefined && { projectId }),
    ...(deliveryId !== undefined && { deliveryId }),
    ...(estimateValue !== undefined && { estimateValue }),
    ...(dueDate !== undefined && { dueDate }),
  };
  const shape = {
    columns: Object.keys(set) as ChangeableColumn[],
    closing: status ? isTerminal(status.code) : undefined,
    revision: expectedRevision != null,
  };
  return issueChanges.send(sending, shape, {
    ...set,
    ...countedCategories,
    ...feedEntry(principal, 'issue.updated.v1'),
    text: `${principal.displayName} ${deedOf(change, references)}`,
    workspaceId: principal.workspaceId,
    id,
    expectedRevision,
  });
}
