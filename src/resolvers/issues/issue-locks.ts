import { type IssueRow, lockIssues } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { decodeId, type IdPrefix, parseId } from '../ids.ts';
import { raiseNotFound, type ResourceName } from '../not-found.ts';
import { raiseIssueGone, requireIssue } from './issue-names.ts';

/** An issue that is locked until the transaction ends, and a time that is not before any entry in its feed. */
export interface LockedIssue {
  issue: IssueRow;
  nowUtc: Date;
}

export async function lockExistingIssue(trx: Trx, issueId: string): Promise<LockedIssue> {
  const { issues, nowUtc } = await lockIssues(trx, [issueId]);
  const issue = issues.get(issueId);
  if (!issue || issue.deletedUtc !== null) raiseIssueGone();
  return { issue, nowUtc };
}

/** Finds a resource under an issue, neither of them deleted, and locks the issue. */
export async function lockIssueOf<Resource extends { issueId: string }>(
  trx: Trx,
  prefix: IdPrefix,
  { id, issueKey }: ResourceName,
  select: (trx: Trx, uuid: string) => Promise<Resource | undefined>,
): Promise<LockedIssue & { resource: Resource }> {
  const decoded = decodeId(prefix, id);
  if ('problem' in decoded) return raiseNotFound(prefix, parseId(id) && decoded.problem);
  const named = issueKey == null ? undefined : await requireIssue(trx, issueKey);
  const resource = await select(trx, decoded.uuid);
  if (!resource || (named && named.id !== resource.issueId)) return raiseNotFound(prefix);
  return { resource, ...(await lockExistingIssue(trx, resource.issueId)) };
}
