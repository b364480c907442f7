import { deleteSubscription, insertSubscriptions } from '../db/issue-sets.ts';
import { type IssueRow, lockIssues } from '../db/issues.ts';
import { inTransaction, type Trx } from '../db/transaction.ts';
import type { Context, Principal } from './context.ts';
import { issueIsGone, requireIssue } from './issue-names.ts';
import { contributor } from './write-access.ts';

/** Makes the viewer follow an issue; who does already goes on. */
export async function subscribeToIssue(ctx: Context, { key }: { key: string }): Promise<IssueRow> {
  return changeSubscription(ctx, key, (trx, { workspaceId, userAccountId }, issueId) =>
    insertSubscriptions(trx, [{ workspaceId, issueId, userAccountId }]),
  );
}

export async function unsubscribeFromIssue(ctx: Context, { key }: { key: string }): Promise<IssueRow> {
  return changeSubscription(ctx, key, (trx, { workspaceId, userAccountId }, issueId) =>
    deleteSubscription(trx, workspaceId, issueId, userAccountId),
  );
}

async function changeSubscription(
  ctx: Context,
  key: string,
  change: (trx: Trx, principal: Principal, issueId: string) => Promise<void>,
): Promise<IssueRow> {
  const { db, loaders, principal } = contributor(ctx);
  const issue = await inTransaction(db, async (trx) => {
    const { id } = await requireIssue(trx, principal.workspaceId, key);
    const { issues } = await lockIssues(trx, principal.workspaceId, [id]);
    const living = issues.get(id);
    if (!living || living.deletedUtc !== null) issueIsGone();
    await change(trx, principal, id);
    return living;
  });
  loaders.clear();
  return issue;
}
