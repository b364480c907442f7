import type { IssueRow } from '../../db/issues.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import type { WriteEvent } from '../../db/writes/change-log.ts';
import { changeIssues } from '../../db/writes/issue-change.ts';
import type { LogEntry } from '../../db/writes/issue-parts.ts';
import { type ActivityActor, writeEvent } from '../activity.ts';
import { newUuid } from '../ids.ts';

/**
 * Adds to the sub-issue counts of locked parents. It does not change their revisions, which count only changes of the
 * issue itself.
 */
export async function addToSubIssueCounts(
  trx: Trx,
  locked: ReadonlyMap<string, IssueRow>,
  differences: ReadonlyMap<string, number>,
): Promise<void> {
  const parents = [...differences].flatMap(([id, difference]) => {
    const parent = locked.get(id);
    return parent && difference !== 0
      ? [{ issue: { id }, set: { subIssueCount: parent.subIssueCount + difference } }]
      : [];
  });
  const columns = ['subIssueCount'] as const;
  await changeIssues(
    transactionTarget(trx),
    { kind: 'columns', named: 'id', columns, deleted: true, wait: true },
    parents,
  );
}

/** The parent of an issue, and the deleted parent that it gets back when that is restored. */
interface ParentColumns {
  parentIssueId: string | null;
  deletedParentIssueId: string | null;
}

/**
 * Sets the parents of locked issues whose parent is being deleted or restored, and adds the events.
 */
export function setParentOfChildren(
  trx: Trx,
  actor: ActivityActor,
  ids: readonly string[],
  set: ParentColumns,
): Promise<void> {
  return setParents(
    trx,
    ids.map((id) => ({ issue: { id }, set, event: parentChangeEvent(actor) })),
    writeEvent('issue.updated.v1'),
  );
}

/** The event of an issue that gets another parent. */
export function parentChangeEvent(actor?: ActivityActor): LogEntry {
  return {
    id: newUuid(),
    actor: actor?.userAccountId ?? null,
    request: actor?.requestId,
    fields: ['parentIssueId'],
  };
}

/** Keeps each statement far from its time limit, and lets other requests run between two statements. */
const childrenPerStatement = 500;

/** Sets the parents and the deleted parents of locked issues. */
export async function setParents(
  trx: Trx,
  children: readonly { issue: { id: string }; set: ParentColumns; event: LogEntry }[],
  event: WriteEvent,
): Promise<void> {
  const columns = ['parentIssueId', 'deletedParentIssueId'] as const;
  const form = { kind: 'revision', named: 'id', columns, deleted: true, wait: true } as const;
  for (let from = 0; from < children.length; from += childrenPerStatement)
    await changeIssues(
      transactionTarget(trx),
      form,
      children.slice(from, from + childrenPerStatement),
      event,
    );
}

/** Clears the deleted parents of locked issues, so that they do not return to them. Clients see no difference. */
export async function clearDeletedParent(trx: Trx, ids: readonly string[]): Promise<void> {
  await changeIssues(
    transactionTarget(trx),
    { kind: 'columns', named: 'id', columns: ['deletedParentIssueId'], deleted: true, wait: true },
    ids.map((id) => ({ issue: { id }, set: { deletedParentIssueId: null } })),
  );
}
