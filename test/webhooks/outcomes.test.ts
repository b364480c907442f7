import { describe, expect, it } from '@jest/globals';
import { outcomeOf, type AttemptResult } from '../../src/live/webhooks/outcomes.ts';
import { webhookDeliveryState, webhookState } from '../../src/model/codes.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Replaces the random number by the one that neither shortens nor lengthens a delay. */
const noJitter = () => 0.5;

const active = { state: webhookState.active, failures: 0, firstFailureUtc: null };

function attemptWith(
  status: number | null,
  more: { attemptCount?: number; createdUtc?: Date; retryAfter?: string } = {},
): AttemptResult {
  const { attemptCount = 0, createdUtc = now, retryAfter = null } = more;
  return {
    delivery: { id: 'd', changeId: null, body: '{}', createdUtc, attemptCount },
    answer: { status, ms: 1, error: null, head: '', retryAfter },
    at: now,
  };
}

const secondsUntilRetry = (result: AttemptResult, webhook = active) => {
  const { outcomes } = outcomeOf(webhook, [result], now, noJitter);
  return ((outcomes[0]?.nextAttemptUtc?.getTime() ?? 0) - now.getTime()) / 1_000;
};

describe('the outcome of an attempt', () => {
  it('is a retry with growing delays, over three days', () => {
    const waits = Array.from({ length: 10 }, (_, attemptCount) =>
      secondsUntilRetry(attemptWith(500, { attemptCount })),
    );
    expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400]);
    const [last] = outcomeOf(active, [attemptWith(500, { createdUtc: ago(3 * dayMs) })], now).outcomes;
    expect(last).toMatchObject({ state: webhookDeliveryState.failed, nextAttemptUtc: null });
  });

  it('has delays that vary randomly by a fifth', () => {
    const waitWith = (random: number) =>
      outcomeOf(active, [attemptWith(500)], now, () => random).outcomes[0]?.nextAttemptUtc;
    expect(waitWith(0)).toEqual(new Date(now.getTime() + 4_000));
    expect(waitWith(1)).toEqual(new Date(now.getTime() + 6_000));
  });

  it.each([
    ['60', 60],
    [new Date(now.getTime() + 120_000).toUTCString(), 120],
    ['9999999999', 86_400],
    ['9'.repeat(400), 86_400],
    ['soon', 5],
    ['-5', 5],
  ])('follows Retry-After, up to a day: %s', (retryAfter, seconds) => {
    expect(secondsUntilRetry(attemptWith(429, { retryAfter }))).toBe(seconds);
  });

  it('is BACKING_OFF after five consecutive failures, with probes at most an hour apart', () => {
    const probe = (failures: number) => {
      const { change } = outcomeOf(
        { ...active, failures, firstFailureUtc: ago(hourMs) },
        [attemptWith(500)],
        now,
        noJitter,
      );
      return change.nextAttemptUtc && (change.nextAttemptUtc.getTime() - now.getTime()) / 60_000;
    };
    expect(probe(3)).toBeUndefined();
    expect([4, 5, 6, 9, 20, 2_000].map(probe)).toEqual([1, 2, 4, 32, 60, 60]);
  });

  it('is a recovery at the first success', () => {
    const webhook = { state: webhookState.backing_off, failures: 50, firstFailureUtc: ago(6 * dayMs) };
    const { change, isRecovered, outcomes } = outcomeOf(webhook, [attemptWith(204)], now);
    expect(isRecovered).toBe(true);
    expect(change).toMatchObject({
      state: webhookState.active,
      failures: 0,
      firstFailureUtc: null,
      nextAttemptUtc: null,
    });
    expect(outcomes[0]).toMatchObject({ state: webhookDeliveryState.delivered });
  });

  it('depends on consecutive failures only', () => {
    const four = { ...active, failures: 4, firstFailureUtc: ago(hourMs) };
    expect(outcomeOf(four, [attemptWith(200), attemptWith(500)], now).change).toMatchObject({ failures: 1 });
    expect(outcomeOf(four, [attemptWith(200), attemptWith(500)], now).change.state).toBeUndefined();
  });

  it.each([
    [410, ago(0), 'The receiver answered 410 Gone.'],
    [500, ago(7 * dayMs), 'The receiver has failed for seven days.'],
    [500, ago(7 * dayMs - 1), undefined],
    [302, ago(0), undefined],
  ])(
    'disables a webhook when it is gone, or has failed for seven days: %s',
    (status, firstFailureUtc, reason) => {
      const { disabledReason, change } = outcomeOf(
        { ...active, failures: 1, firstFailureUtc },
        [attemptWith(status)],
        now,
      );
      expect(disabledReason).toBe(reason);
      expect(change.state === webhookState.disabled).toBe(reason !== undefined);
    },
  );

  it('includes the attempt', () => {
    const { outcomes } = outcomeOf(active, [attemptWith(500, { attemptCount: 30 })], now);
    expect(outcomes[0]?.attempt).toMatchObject({ utc: now.toISOString(), status: 500, ms: 1 });
  });
});
