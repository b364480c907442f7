import { type BesideTable, countedDelivery, type WithBeside } from '../db/issue-beside.ts';
import { type ChangeableColumn, type IssueChanged, issueChanges } from '../db/issue-change.ts';
import type { IssueRow } from '../db/issues.ts';
import type { Sending } from '../db/prepared.ts';
import { inOne } from '../db/transaction.ts';
import { feedEntry } from './activity.ts';
import type { Snapshot } from '../reference/snapshot.ts';
import type { Principal, SignedIn } from './context.ts';
import { fold } from './fold.ts';
import { countedCategories, isTerminal } from './issue-counts.ts';
import { deedOf } from './issue-deeds.ts';
import type { IssueChange, IssueFieldsInput } from './issue-input.ts';
import { requireName, requireNamed } from './issue-names.ts';
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

/** An issue as its change finds it, once its team is known: its id, or its number in the team. */
type PlacedIssue = { teamId: string } & ({ id: string } | { number: number });

/** The issue that a key or an id names, which may not be there; by memory where that has the team of its key. */
export async function placed(
  { db, connect, principal: { workspaceId } }: SignedIn,
  kept: Snapshot | undefined,
  keyOrId: string,
): Promise<PlacedIssue> {
  const name = requireName(keyOrId);
  const teams = kept?.table('team');
  const [team] = teams && 'number' in name ? teams.by('code', name.teamCode) : [];
  const teamId = team?.[teams?.place('id') ?? -1];
  if (teamId && 'number' in name) return { teamId, number: name.number };
  return requireNamed({ db, connect }, workspaceId, keyOrId);
}

/** A change that breaks no rule, and the issue that it is for. */
interface CheckedChange {
  issue: PlacedIssue;
  change: IssueChange;
  references: References;
  expectedRevision: ExpectedRevision;
  principal: Principal;
  shows: readonly BesideTable[];
}

/**
 * May a change be one of several in a transaction. Those that are to move counts may not: deliveries are locked before
 * projects, which holds for one of them and not for one after the other. To open a closed issue comes but once.
 */
export function goesWithOthers({ change, references }: CheckedChange): boolean {
  const { statusId, deliveryId, projectId, estimateValue } = change;
  const status = statusId && references.find('status', statusId);
  const moves = [deliveryId, projectId, estimateValue].some((value) => value !== undefined);
  return !moves && !(status && isTerminal(status.code));
}

/** Makes changes of one issue in their order, several in one transaction. */
export async function sendChanges(
  sending: Sending,
  changes: readonly CheckedChange[],
): Promise<(IssueChanged | undefined)[]> {
  const all = async (to: Sending) => {
    const sent = await Promise.all(changes.map((change) => sendChange(to, change)));
    return sent.map(([row]) => row);
  };
  return changes.length > 1 ? inOne(sending, all) : all(sending);
}

/** Makes a change that stands alone; no row when the issue is gone, or at another revision. */
function sendChange(
  sending: Sending,
  { principal, issue, change, references, expectedRevision, shows }: CheckedChange,
): Promise<IssueChanged[]> {
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
    named: 'id' in issue ? 'id' : 'number',
    beside: shows,
  } as const;
  return issueChanges.send(sending, shape, {
    ...set,
    ...countedCategories,
    ...feedEntry(principal, 'issue.updated.v1'),
    text: `${principal.displayName} ${deedOf(change, references)}`,
    ...issue,
    workspaceId: principal.workspaceId,
    expectedRevision,
  });
}

/** The issue with what its statement told of besides, unless others changed it while the statement waited for them. */
export function asChanged(row: IssueChanged, shows: readonly BesideTable[]): IssueRow & WithBeside {
  if (row.revisionSeen !== row.revision - 1) return row;
  const beside = Object.fromEntries(shows.map((table) => [table, row[table]]));
  return Object.assign(row, { beside, counted: countedDelivery(row, beside) });
}
