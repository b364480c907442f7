import type { WebhookAttempt } from '../../db/tables/webhook-tables.ts';
import { activeColumns, type WebhookChange, type WebhookRow } from '../../db/webhooks.ts';
import type { DeliveryOutcome, DueDelivery } from '../../db/webhook-work.ts';
import { webhookDeliveryState, webhookState } from '../../model/codes.ts';
import { dayMs } from '../../model/times.ts';
import { isReceived, type ReceiverResponse } from '../../resolvers/webhooks/sending.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** When a message is sent again after its first, second … failure, as Standard Webhooks recommends. */
const retriesMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];
/** A message that still fails after this time is not sent again. */
const failedAfterMs = 3 * dayMs;
/** After this many consecutive failures a webhook is backing off: only one message at a time is sent, as a probe. */
const failuresToBackOff = 5;
/** The longest time between two probes. A receiver that works again waits no longer than this. */
const maxProbeDelayMs = hourMs;
/** A webhook that has failed for this long, and never succeeded, is disabled. */
const disabledAfterMs = 7 * dayMs;
/** A longer `Retry-After` is shortened to this. */
const maxRetryAfterMs = dayMs;

/** A delivery that was attempted, and its result. */
export interface AttemptResult {
  readonly delivery: DueDelivery;
  readonly answer: ReceiverResponse;
  readonly at: Date;
}

/** How a round of attempts changes its deliveries and their webhook. */
export interface RoundOutcome {
  readonly outcomes: readonly DeliveryOutcome[];
  readonly change: WebhookChange;
  /** Whether the webhook works again after it was backing off. */
  readonly isRecovered: boolean;
  /** Why the webhook is disabled; undefined if it is not. */
  readonly disabledReason: string | undefined;
}

/** Derives the changes from the attempts of a round. `random`, from 0 to 1, varies the delays, so that retries do not coincide. */
export function outcomeOf(
  webhook: Pick<WebhookRow, 'state' | 'failures' | 'firstFailureUtc'>,
  sent: readonly AttemptResult[],
  now: Date,
  random: () => number = Math.random,
): RoundOutcome {
  const outcomes = sent.map((each) => deliveryOutcome(each, now, random));
  let { failures, firstFailureUtc } = webhook;
  let lastSuccessUtc: Date | undefined;
  let retryAfterMs = 0;
  for (const { answer } of sent) {
    if (isReceived(answer)) {
      failures = 0;
      firstFailureUtc = null;
      lastSuccessUtc = now;
      retryAfterMs = 0;
    } else {
      failures += 1;
      firstFailureUtc ??= now;
      retryAfterMs = Math.max(retryAfterMs, retryAfterOf(answer.retryAfter, now));
    }
  }
  const isGone = sent.some(({ answer }) => answer.status === 410);
  const streak = { failures, firstFailureUtc, lastSuccessUtc, retryAfterMs, isGone };
  return { outcomes, ...webhookOutcome(webhook.state, streak, now, random) };
}

/** What becomes of a delivery after an attempt. */
function deliveryOutcome(
  { delivery, answer, at }: AttemptResult,
  now: Date,
  random: () => number,
): DeliveryOutcome {
  const { id, createdUtc, attemptCount } = delivery;
  const attempt = attemptOf(answer, at);
  if (isReceived(answer)) return { id, state: webhookDeliveryState.delivered, nextAttemptUtc: null, attempt };
  if (now.getTime() - createdUtc.getTime() >= failedAfterMs)
    return { id, state: webhookDeliveryState.failed, nextAttemptUtc: null, attempt };
  const waitMs = retriesMs[attemptCount] ?? retriesMs.at(-1) ?? dayMs;
  const requestedMs = retryAfterOf(answer.retryAfter, now);
  const nextAttemptUtc = later(now, Math.max(withJitter(waitMs, random), requestedMs));
  return { id, state: webhookDeliveryState.waiting, nextAttemptUtc, attempt };
}

/** The consecutive failures of a webhook, after a round. */
interface FailureStreak {
  readonly failures: number;
  readonly firstFailureUtc: Date | null;
  /** Undefined if no attempt of the round succeeded. */
  readonly lastSuccessUtc: Date | undefined;
  /** The longest delay that the receiver has requested since its last success. */
  readonly retryAfterMs: number;
  readonly isGone: boolean;
}

function webhookOutcome(
  state: WebhookRow['state'],
  { failures, firstFailureUtc, lastSuccessUtc, retryAfterMs, isGone }: FailureStreak,
  now: Date,
  random: () => number,
): Omit<RoundOutcome, 'outcomes'> {
  const hasFailedTooLong =
    firstFailureUtc !== null &&
    now.getTime() - firstFailureUtc.getTime() >= disabledAfterMs &&
    !lastSuccessUtc;
  const disabledReason = isGone
    ? 'The receiver answered 410 Gone.'
    : hasFailedTooLong
      ? 'The receiver has failed for seven days.'
      : undefined;
  const isBackingOff = failures >= failuresToBackOff || (state === webhookState.backing_off && failures > 0);
  const isRecovered = state === webhookState.backing_off && !isBackingOff;
  const probeMs = Math.min(minuteMs * 2 ** Math.max(failures - failuresToBackOff, 0), maxProbeDelayMs);
  return {
    isRecovered,
    disabledReason,
    change: {
      failures,
      firstFailureUtc,
      ...(lastSuccessUtc && { lastSuccessUtc }),
      ...(isRecovered && activeColumns),
      ...(isBackingOff && {
        state: webhookState.backing_off,
        nextAttemptUtc: later(now, Math.max(withJitter(probeMs, random), retryAfterMs)),
      }),
      ...(disabledReason !== undefined && {
        state: webhookState.disabled,
        disabledReason,
        nextAttemptUtc: null,
      }),
    },
  };
}

/** Whether the status says that the receiver is overloaded and should get fewer messages at once. */
export function isOverloaded({ status }: Pick<ReceiverResponse, 'status'>): boolean {
  return status === 429 || status === 502 || status === 504;
}

function attemptOf({ status, ms, error, head }: ReceiverResponse, at: Date): WebhookAttempt {
  return { utc: at.toISOString(), status, ms, error, head };
}

/** The delay that `Retry-After` requests, in milliseconds. The header has seconds or a date. */
function retryAfterOf(text: string | null, now: Date): number {
  if (text === null) return 0;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / secondMs;
  if (Number.isNaN(seconds)) return 0;
  return Math.min(Math.max(seconds * secondMs, 0), maxRetryAfterMs);
}

/** Varies a delay by up to a fifth. */
function withJitter(ms: number, random: () => number): number {
  return ms * (0.8 + random() * 0.4);
}

/** The time so many milliseconds later. */
export function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + Math.round(ms));
}
