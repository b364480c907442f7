import type { IssueRow } from '../db/issues.ts';
import { inside, type Trx } from '../db/engine/transaction.ts';
import { changeIssues, type FeedEvent } from '../db/writes/issue-change.ts';
import type { AskedIssue } from '../db/writes/issue-parts.ts';
import { activityEvents, type EventType } from '../model/activity-events.ts';
import type { SettableColumn } from '../model/issue-columns.ts';
import type { Principal } from './context.ts';
import { newUuid } from './ids.ts';

/** Who did something, as the feed names him. */
type Actor = Pick<Principal, 'userAccountId' | 'displayName'>;

/** How a feed shows an event, as statements take it. */
export function feedEvent(eventType: EventType): FeedEvent {
  return { eventType, iconCss: activityEvents[eventType].icon };
}

/** Something that the principal did to issues. */
export interface Activity {
  eventType: EventType;
  /** What was done, to stand after the name of who did it. */
  activityText: string;
}

/**
 * Changes a locked issue and enters what happened in its feed: the next place, at a time that is not before the entry in
 * front. Gives the issue as it is then.
 */
export async function recordActivity(
  trx: Trx,
  principal: Actor,
  issueId: string,
  nowUtc: Date,
  { eventType, activityText }: Activity,
  set: NonNullable<AskedIssue['set']> = {},
): Promise<IssueRow | undefined> {
  const { userAccountId, displayName } = principal;
  const columns = Object.keys(set) as SettableColumn[];
  const entry = { id: newUuid(), actor: userAccountId, text: `${displayName} ${activityText}` };
  const [issue] = await changeIssues(
    inside(trx),
    { kind: 'activity', named: 'id', columns, wait: true },
    [{ issue: { id: issueId }, at: nowUtc, set, entry }],
    feedEvent(eventType),
  );
  return issue;
}
