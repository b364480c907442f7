import { type IssueRow, lockIssues } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { raise } from '../errors.ts';
import { decodeId, idNoun, type IdPrefix, parseId } from '../ids.ts';
import { issueIsGone, requireIssue } from './issue-names.ts';

/** An issue that nobody else changes before the transaction ends, and a time that is not before anything in its feed. */
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

/** How a client names something that hangs on an issue; where it says the issue too, that must be the one. */
export interface ThingName {
  id: string;
  issueKey?: string | null;
}

/** Finds a living thing that hangs on a living issue, and locks that issue. */
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

/** Ends the work on something that is not there, or not any more. */
export function thingIsGone(prefix: IdPrefix, problem?: string): never {
  raise('not_found', `There is no such ${idNoun(prefix)}${problem ? `: ${problem}` : ''}.`);
}
