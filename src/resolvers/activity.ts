import { insertActivity } from '../db/activity.ts';
import { type IssueColumns, type IssueRow, updateIssuesWithActivity } from '../db/issues.ts';
import type { Trx } from '../db/engine/transaction.ts';
import type { Principal } from './context.ts';
import { newUuid } from './ids.ts';

/** Every kind of event that a feed can show, with its icon. */
export const eventIcons = {
  'issue.updated.v1': 'icon-pen',
  'issue-comment.created.v1': 'icon-comment',
  'issue-comment.updated.v1': 'icon-comment',
  'issue-comment.deleted.v1': 'icon-comment',
  'issue-link.created.v1': 'icon-link',
  'issue-link.deleted.v1': 'icon-link',
  'issue-attachment.created.v1': 'icon-paperclip',
  'agent-message.created.v1': 'icon-robot',
} as const satisfies Record<string, string>;
export type EventType = keyof typeof eventIcons;

/** Who did something, as the feed names him. */
type Actor = Pick<Principal, 'userAccountId' | 'displayName'>;

/** What a statement says of its entry in the feed, by the names of its slots. */
export function feedEntry({ userAccountId }: Actor, eventType: EventType) {
  return {
    activityId: newUuid(),
    eventType,
    iconCss: eventIcons[eventType],
    actor: userAccountId,
  };
}

/** Something that the principal did to issues. */
export interface Happening {
  eventType: EventType;
  /** What was done, to stand after the name of who did it. */
  deed: string;
}

/**
 * Changes locked issues and enters what happened in the feed of each: the next place, at a time that is not before
 * the entry in front. Gives the issues as they are then.
 */
export async function recordActivity(
  trx: Trx,
  principal: Actor,
  issueIds: readonly string[],
  nowUtc: Date,
  { eventType, deed }: Happening,
  columns: IssueColumns = {},
): Promise<IssueRow[]> {
  const { userAccountId, displayName } = principal;
  const issues = await updateIssuesWithActivity(trx, issueIds, nowUtc, columns);
  await insertActivity(
    trx,
    issues.map((issue) => ({
      issueId: issue.id,
      sortOrder: issue.activityCount,
      id: newUuid(),
      eventType,
      actorUserAccountId: userAccountId,
      occurredUtc: nowUtc,
      iconCss: eventIcons[eventType],
      text: `${displayName} ${deed}`,
    })),
  );
  return issues;
}
