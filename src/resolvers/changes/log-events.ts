import type { IssueRow } from '../../db/issues.ts';
import { insertRows } from '../../db/writes/insert-rows.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { changeOrigin } from '../../model/codes.ts';
import type { EventType } from '../../model/events.ts';
import { newUuid } from '../ids.ts';

/** An event for the log of changes. */
export interface LoggableEvent {
  readonly eventType: EventType;
  /** The id of the object that it concerns. */
  readonly subjectId: string;
  /** The issue of the object. The event comes after the newest change of this issue in the log. */
  readonly issue?: Pick<IssueRow, 'id' | 'teamId' | 'revision' | 'activityCount'>;
  /** The team of the object, if it belongs to no issue. */
  readonly teamId?: string | null;
  /** The fields that were changed, and what they were before. */
  readonly fields?: readonly string[];
  readonly previous?: Readonly<Record<string, unknown>>;
}

/** What the events of one write have in common. */
export interface EventCause {
  readonly origin: keyof typeof changeOrigin;
  readonly occurredUtc: Date;
  /** The account of the member who caused them; none if the service itself did. */
  readonly userAccountId?: string | undefined;
  readonly requestId?: string;
}

/**
 * Appends events to the log of changes in the transaction of their write. Writes of issues append theirs in their
 * statement (`logPart` in `src/db/writes/change-log.ts`).
 */
export async function logEvents(
  trx: Trx,
  events: readonly LoggableEvent[],
  { origin, occurredUtc, userAccountId, requestId }: EventCause,
): Promise<void> {
  const changes = events.map(({ eventType, subjectId, issue, teamId, fields, previous }) => ({
    changeId: newUuid(),
    eventType,
    occurredUtc,
    actorUserAccountId: userAccountId ?? null,
    subjectId,
    issueId: issue?.id ?? null,
    teamId: issue?.teamId ?? teamId ?? null,
    origin: changeOrigin[origin],
    requestId: requestId ?? null,
    ...(issue && { sortOrder: issue.revision + issue.activityCount }),
    ...(fields && { fields: [...fields] }),
    ...(previous && { previous: JSON.stringify(previous) }),
  }));
  await insertRows(trx, 'changeInbox', changes);
}
