import {
  addToSubIssueCounts,
  detachChildren,
  forgetDeletedParent,
  lockParents,
  reattachChildren,
  selectAncestorIds,
  selectChildIds,
  selectOrphanIds,
} from '../../db/reads/issue-tree.ts';
import { type IssueRow, lockIssues, type NamedIssue, updateIssues } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import type { Context } from '../context.ts';
import { moveCounts } from './issue-counts.ts';
import { issueIsGone, requireIssue } from './issue-names.ts';
import { type ExpectedRevision, requireRevision } from '../writes/revisions.ts';
import { contributor } from '../writes/write-access.ts';
import { turns, write } from '../writes/write-transaction.ts';

/** How long a deleted issue can be restored. */
export const restorableMs = 30 * 24 * 60 * 60 * 1000;

/** Deletes an issue: it is nowhere to be found, its counts go down, and its sub-issues read as having no parent. */
export async function deleteIssue(
  ctx: Context,
  { key, expectedRevision }: { key: string; expectedRevision?: ExpectedRevision },
): Promise<IssueRow> {
  const context = contributor(ctx);
  const { workspaceId } = context.principal;
  return write(context, turns.parents(workspaceId), async (trx) => {
    await lockParents(trx, 'exclusive');
    const named = await requireIssue(trx, key);
    const children = await selectChildIds(trx, named.id);
    const { issues, nowUtc } = await lockIssues(trx, family(named, children));
    const living = issues.get(named.id) ?? issueIsGone();
    requireRevision('issue', living, expectedRevision);
    await detachChildren(trx, children, living.id);
    await changeParentCount(trx, living, -1);
    const [deleted] = await updateIssues(trx, [living.id], {
      deletedUtc: nowUtc,
      subIssueCount: 0,
    });
    await moveCounts(trx, [living], []);
    return deleted ?? issueIsGone();
  });
}

/**
 * Brings back an issue that was deleted within 30 days, under its parent and over its sub-issues, those that got
 * another parent meanwhile excepted. An issue that is not deleted stays as it is.
 */
export async function restoreIssue(ctx: Context, { key }: { key: string }): Promise<IssueRow> {
  const context = contributor(ctx);
  const { workspaceId } = context.principal;
  return write(context, turns.parents(workspaceId), async (trx) => {
    await lockParents(trx, 'exclusive');
    const named = await requireIssue(trx, key, { deleted: true });
    const orphans = await selectOrphanIds(trx, named.id);
    const { issues, nowUtc } = await lockIssues(trx, family(named, orphans));
    const deleted = issues.get(named.id) ?? issueIsGone();
    if (deleted.deletedUtc === null) return deleted;
    if (nowUtc.getTime() - deleted.deletedUtc.getTime() > restorableMs) issueIsGone();
    // One that has become an ancestor meanwhile stays there: under its old parent again it would close a circle.
    const above = await selectAncestorIds(trx, deleted.id);
    const { stay = [], come = [] } = Object.groupBy(orphans, (id) => (above.includes(id) ? 'stay' : 'come'));
    await reattachChildren(trx, come, deleted.id);
    await forgetDeletedParent(trx, stay);
    await changeParentCount(trx, deleted, 1);
    const subIssueCount = come.filter((id) => issues.get(id)?.deletedUtc === null).length;
    const [restored] = await updateIssues(trx, [deleted.id], {
      deletedUtc: null,
      subIssueCount,
    });
    if (restored) await moveCounts(trx, [], [restored]);
    return restored ?? issueIsGone();
  });
}

function family({ id, parentIssueId }: NamedIssue, children: readonly string[]): string[] {
  return [id, ...(parentIssueId ? [parentIssueId] : []), ...children];
}

async function changeParentCount(trx: Trx, issue: IssueRow, difference: 1 | -1): Promise<void> {
  if (!issue.parentIssueId) return;
  await addToSubIssueCounts(trx, new Map([[issue.parentIssueId, difference]]));
}
