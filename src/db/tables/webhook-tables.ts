import type { Generated, JSONColumnType } from 'kysely';
import type { GeneratedTimestamp, Timestamp } from '../../model/column-types.ts';

// The tables of webhooks, as migration 0043 defines them.

/** One attempt to deliver a message. */
export interface WebhookAttempt {
  readonly utc: string;
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  readonly ms: number;
  readonly error: string | null;
  /** The first bytes of the answer. */
  readonly head: string;
}

export type WebhookAttempts = JSONColumnType<readonly WebhookAttempt[], string | undefined, string>;

export interface WebhookTable {
  workspaceId: string;
  id: string;
  url: string;
  description: Generated<string>;
  /** Empty for all events. */
  eventTypes: Generated<string[]>;
  teamId: string | null;
  hasImports: Generated<boolean>;
  /** A code of `webhookState`. */
  state: Generated<number>;
  /** Why the service has disabled it; null if a member has disabled it, or if it is not disabled. */
  disabledReason: string | null;
  /** Encrypted. */
  secret: Buffer;
  previousSecret: Buffer | null;
  previousUntilUtc: Timestamp | null;
  /** The account and the scopes with which it reads. */
  userAccountId: string;
  scopes: string[];
  /** The point in the log (with `tag`) up to which changes have become deliveries. */
  position: number;
  tag: number;
  /** Failed attempts since the last success. */
  failures: Generated<number>;
  firstFailureUtc: Timestamp | null;
  lastSuccessUtc: Timestamp | null;
  /** The time of the next attempt while the webhook is backing off. */
  nextAttemptUtc: Timestamp | null;
  /** The process that delivers to it, and until when it may. */
  claimId: string | null;
  claimedUntilUtc: Timestamp | null;
  createdUtc: GeneratedTimestamp;
  updatedUtc: GeneratedTimestamp;
  deletedUtc: Timestamp | null;
  revision: Generated<number>;
}

export interface WebhookDeliveryTable {
  workspaceId: string;
  id: string;
  webhookId: string;
  /** The position of its change. */
  position: number;
  /** Null for a message that is not about a change. */
  changeId: string | null;
  issueId: string | null;
  eventType: string;
  /** A code of `webhookDeliveryState`. */
  state: Generated<number>;
  body: string;
  attempts: WebhookAttempts;
  attemptCount: Generated<number>;
  /** When it is due; null when it is finished. */
  nextAttemptUtc: Timestamp | null;
  createdUtc: Timestamp;
  finishedUtc: Timestamp | null;
}
