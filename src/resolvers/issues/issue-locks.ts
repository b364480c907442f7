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

/** How a client names something that belongs to an issue. If it names the issue too, the issue must match. */
export interface ThingName {
  id: string;
  issueKey?: string | null;
}

/** Finds something that belongs to an issue, neither of them deleted, and locks the issue. */
export async function lockIssueOf<Thing extends { issueId: string }>(
  trx: Trx,
  prefix: IdPrefix,
  { id, issueKey }: ThingName,
  select: (trx: Trx, uuid: string) => Promise<Thing | undefined>,
): Promise<LockedIssue & { thing: Thing }> {
  const decoded = decodeId(prefix, id);
  if ('problem' in decoded) return thingIsGone(prefix, parseId(id) && decoded.problem);
  const named = issueKey == null ? undefined : await requireIssue(trx, issueKey);
  const thing = await select(trx, decoded.uuid);
  if (!thing || (named && named.id !== thing.issueId)) return thingIsGone(prefix);
  return { thing, ...(await lockLivingIssue(trx, thing.issueId)) };
}

/** Throws NOT_FOUND for something that does not exist or has been deleted. */
export function thingIsGone(prefix: IdPrefix, problem?: string): never {
  raise('not_found', `There is no such ${idNoun(prefix)}${problem ? `: ${problem}` : ''}.`);
}
