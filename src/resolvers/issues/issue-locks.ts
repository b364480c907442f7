import { type IssueRow, lockIssues } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { raise } from '../errors.ts';
import { decodeId, idNoun, type IdPrefix, parseId } from '../ids.ts';
import { issueIsGone, requireIssue } from './issue-names.ts';

/** An issue that is locked until the transaction ends, and a time that is not before any entry in its feed. */
export interface LockedIssue {
  issue: IssueRow;
  nowUtc: Date;
}

export async function lockLivingIssue(trx: Trx, issueId: string): Promise<LockedIssue> {
  const { issues, nowUtc } = await lockIssues(trx, [issueId]);
  const issue = issues.get(issueId);
  if (!issue || issue.deletedUtc !== null) issueIsGone();
  return { issue, nowUtc };
}

/** How a client names a resource under an issue, such as a comment. If it names the issue too, the issue must match. */
export interface ResourceName {
  id: string;
  issueKey?: string | null;
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
  return { resource, ...(await lockLivingIssue(trx, resource.issueId)) };
}

/** Throws NOT_FOUND for an object that does not exist or has been deleted. */
export function raiseNotFound(prefix: IdPrefix, problem?: string): never {
  raise('not_found', `There is no such ${idNoun(prefix)}${problem ? `: ${problem}` : ''}.`);
}
