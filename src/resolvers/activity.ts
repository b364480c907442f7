import type { IssueRow } from '../db/issues.ts';
import { inside, type Trx } from '../db/engine/transaction.ts';
import { changeIssues, type FeedEvent } from '../db/writes/issue-change.ts';
import type { AskedIssue } from '../db/writes/issue-parts.ts';
import { activityEvents, type EventType } from '../model/activity-events.ts';
import type { SettableColumn } from '../model/issue-columns.ts';
import type { Principal } from './context.ts';
import { newUuid } from './ids.ts';

/** The member who did something, with the name in the feed. */
type Actor = Pick<Principal, 'userAccountId' | 'displayName'>;

/** The type and icon of an event, as parameters of statements. */
export function feedEvent(eventType: EventType): FeedEvent {
  return { eventType, iconCss: activityEvents[eventType].icon };
}

/** Something that a member did to an issue. */
export interface Activity {
  eventType: EventType;
  /** The rest of the sentence after the name of the member: "edited a comment". */
  activityText: string;
}

/**
 * Updates a locked issue and adds an entry to its activity feed. `nowUtc` must not be earlier than the last entry.
 * Returns the updated issue.
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
