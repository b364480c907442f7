import {
  lockParents,
  selectAncestorIds,
  selectChildIds,
  selectOrphanIds,
} from '../../db/reads/issue-tree.ts';
import { type IssueRow, lockIssues, type NamedIssue } from '../../db/issues.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import { changeIssues } from '../../db/writes/issue-change.ts';
import type { EventType } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { type ActivityActor, activityActorOf, writeEvent } from '../activity.ts';
import type { Context } from '../context.ts';
import { raise } from '../errors.ts';
import { newUuid } from '../ids.ts';
import { raiseIssueGone, requireIssue } from './issue-names.ts';
import { addToSubIssueCounts, clearDeletedParent, setParentOfChildren } from './sub-issues.ts';
import { type ExpectedRevision, requireRevision } from '../writes/revisions.ts';
import { serialKeys } from '../writes/serial-queue.ts';
import { requireContributor } from '../writes/write-access.ts';
import { write } from '../writes/write-transaction.ts';

/** How long a deleted issue can be restored. */
export const restorableMs = 30 * 24 * 60 * 60 * 1_000;

/** Deletes an issue: no query finds it, nothing counts it, and its sub-issues no longer have a parent. */
export async function deleteIssue(
  ctx: Context,
  { key, expectedRevision }: { key: string; expectedRevision?: ExpectedRevision },
): Promise<IssueRow> {
  const context = requireContributor(ctx);
  const { workspaceId } = context.principal;
  return write(context, serialKeys.parents(workspaceId), async (trx) => {
    await lockParents(trx, 'exclusive');
    const named = await requireIssue(trx, key);
    const children = await selectChildIds(trx, named.id);
    requireFewSubIssues(children, 'deleted');
    const { issues, nowUtc } = await lockIssues(trx, familyIds(named, children));
    const locked = issues.get(named.id) ?? raiseIssueGone();
    requireRevision('issue', locked, expectedRevision);
    const detached = { parentIssueId: null, deletedParentIssueId: locked.id };
    await setParentOfChildren(trx, activityActorOf(context), children, detached);
    await changeParentCount(trx, locked, issues, -1);
    const set = { deletedUtc: nowUtc, subIssueCount: 0 };
    return setDeleted(trx, activityActorOf(context), 'issue.deleted.v1', locked.id, set);
  });
}

/**
 * Restores an issue that was deleted within the last 30 days, with its parent and its sub-issues, except sub-issues
 * that have got another parent since. An issue that is not deleted does not change.
 */
export async function restoreIssue(ctx: Context, { key }: { key: string }): Promise<IssueRow> {
  const context = requireContributor(ctx);
  const { workspaceId } = context.principal;
  return write(context, serialKeys.parents(workspaceId), async (trx) => {
    await lockParents(trx, 'exclusive');
    const named = await requireIssue(trx, key, { deleted: true });
    const orphans = await selectOrphanIds(trx, named.id);
    requireFewSubIssues(orphans, 'restored');
    const { issues, nowUtc } = await lockIssues(trx, familyIds(named, orphans));
    const deleted = issues.get(named.id) ?? raiseIssueGone();
    if (deleted.deletedUtc === null) return deleted;
    if (nowUtc.getTime() - deleted.deletedUtc.getTime() > restorableMs) raiseIssueGone();
    // A former sub-issue that has become an ancestor since would form a cycle with its old parent.
    const ancestors = await selectAncestorIds(trx, deleted.id);
    const { remaining = [], returning = [] } = Object.groupBy(orphans, (id) =>
      ancestors.includes(id) ? 'remaining' : 'returning',
    );
    const reattached = { parentIssueId: deleted.id, deletedParentIssueId: null };
    await setParentOfChildren(trx, activityActorOf(context), returning, reattached);
    await clearDeletedParent(trx, remaining);
    await changeParentCount(trx, deleted, issues, 1);
    const subIssueCount = returning.filter((id) => issues.get(id)?.deletedUtc === null).length;
    const set = { deletedUtc: null, subIssueCount };
    return setDeleted(trx, activityActorOf(context), 'issue.restored.v1', deleted.id, set);
  });
}

/** Refuses an issue with so many sub-issues that the write would take longer than a request may. */
function requireFewSubIssues(subIssues: readonly string[], participle: 'deleted' | 'restored'): void {
  const { length } = subIssues;
  if (length <= limits.subIssuesAtOnce) return;
  const max = limits.subIssuesAtOnce.toLocaleString('en');
  raise(
    'conflict',
    `An issue can be ${participle} together with ${max} sub-issues at most, and this one has ${length.toLocaleString('en')}, ` +
      'including deleted ones. Move some of them to another parent first.',
  );
}

function familyIds({ id, parentIssueId }: NamedIssue, children: readonly string[]): string[] {
  return [id, ...(parentIssueId ? [parentIssueId] : []), ...children];
}

async function setDeleted(
  trx: Trx,
  { userAccountId, requestId }: ActivityActor,
  eventType: EventType,
  id: string,
  set: { deletedUtc: Date | null; subIssueCount: number },
): Promise<IssueRow> {
  const [issue] = await changeIssues(
    transactionTarget(trx),
    {
      kind: 'revision',
      named: 'id',
      columns: ['deletedUtc', 'subIssueCount'],
      deleted: true,
      wait: true,
    },
    [{ issue: { id }, set, event: { id: newUuid(), actor: userAccountId, request: requestId } }],
    writeEvent(eventType),
  );
  return issue ?? raiseIssueGone();
}

async function changeParentCount(
  trx: Trx,
  { parentIssueId }: IssueRow,
  locked: ReadonlyMap<string, IssueRow>,
  difference: 1 | -1,
): Promise<void> {
  if (parentIssueId) await addToSubIssueCounts(trx, locked, new Map([[parentIssueId, difference]]));
}
