import type { IssueRow } from '../db/issues.ts';
import { transactionTarget, type Trx } from '../db/engine/transaction.ts';
import type { WriteEvent } from '../db/writes/change-log.ts';
import { changeIssues } from '../db/writes/issue-change.ts';
import type { RequestedChange } from '../db/writes/issue-parts.ts';
import { changeOrigin } from '../model/codes.ts';
import { type EventType, events, type FeedEventType } from '../model/events.ts';
import type { SettableColumn } from '../model/issue-columns.ts';
import type { Principal, SignedIn } from './context.ts';
import { newUuid } from './ids.ts';

/** The member who changes an issue, with the name for the feed, and the request that asks for the change. */
export interface ActivityActor extends Pick<Principal, 'userAccountId' | 'displayName'> {
  readonly requestId?: string | undefined;
}

export function activityActorOf({ principal, requestId }: SignedIn): ActivityActor {
  const { userAccountId, displayName } = principal;
  return { userAccountId, displayName, requestId };
}

/** The event that a statement of a request adds to the log and the feeds. */
export function writeEvent(eventType: EventType): WriteEvent {
  const { icon = '' }: { meaning: string; icon?: string } = events[eventType];
  return { eventType, origin: changeOrigin.request, iconCss: icon };
}

/** Something that a member did to an issue. */
export interface Activity {
  /** Events of the issue itself are excluded, because they also increase its revision: `sendChanges` writes them. */
  eventType: Exclude<FeedEventType, `issue.${string}`>;
  /** The sentence without the name of the member at its beginning: "edited a comment". */
  activityText: string;
  /** The id of the object that was changed. */
  subject: string;
  /** The fields that were set. */
  fields?: readonly string[];
}

/**
 * Updates a locked issue, and adds an entry to its activity feed and to the log. `nowUtc` must not be earlier than the
 * last entry. Returns the updated issue.
 */
export async function recordActivity(
  trx: Trx,
  { userAccountId, displayName, requestId }: ActivityActor,
  issueId: string,
  nowUtc: Date,
  { eventType, activityText, ...about }: Activity,
  set: NonNullable<RequestedChange['set']> = {},
): Promise<IssueRow | undefined> {
  const columns = Object.keys(set) as SettableColumn[];
  const text = `${displayName} ${activityText}`;
  const event = { id: newUuid(), actor: userAccountId, request: requestId, text, ...about };
  const [issue] = await changeIssues(
    transactionTarget(trx),
    { kind: 'activity', named: 'id', columns, wait: true },
    [{ issue: { id: issueId }, at: nowUtc, set, event }],
    writeEvent(eventType),
  );
  return issue;
}
