import { markUnlogged } from '../../db/changes.ts';
import { deleteSubscription, insertSubscriptions } from '../../db/writes/issue-sets.ts';
import type { IssueRow } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { type Context, type Principal, requireSignedIn } from '../context.ts';
import { lockExistingIssue } from './issue-locks.ts';
import { requireIssue } from './issue-names.ts';
import { serialKeys } from '../writes/serial-queue.ts';
import { write } from '../writes/write-transaction.ts';

/** Makes the viewer follow an issue. Following it again changes nothing. */
export async function subscribeToIssue(ctx: Context, { key }: { key: string }): Promise<IssueRow> {
  return changeSubscription(ctx, key, (trx, { userAccountId }, issueId) =>
    insertSubscriptions(trx, [{ issueId, userAccountId }]),
  );
}

export async function unsubscribeFromIssue(ctx: Context, { key }: { key: string }): Promise<IssueRow> {
  return changeSubscription(ctx, key, (trx, { userAccountId }, issueId) =>
    deleteSubscription(trx, issueId, userAccountId),
  );
}

async function changeSubscription(
  ctx: Context,
  key: string,
  change: (trx: Trx, principal: Principal, issueId: string) => Promise<void>,
): Promise<IssueRow> {
  // Guests may subscribe, too, because their comments subscribe them as well.
  const context = requireSignedIn(ctx);
  const { principal } = context;
  const { workspaceId } = principal;
  return write(context, serialKeys.issue(workspaceId, key), async (trx) => {
    const { id } = await requireIssue(trx, key);
    const { issue } = await lockExistingIssue(trx, id);
    await change(trx, principal, id);
    await markUnlogged(trx);
    return issue;
  });
}
