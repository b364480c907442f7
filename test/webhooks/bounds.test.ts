import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { useWebhooks } from './use-webhooks.ts';

const { app, webhooks, webhookWith, waitingCountOf } = useWebhooks();

/** Resolves after some time, and does not keep the process alive until then. */
const delayedBy = (ms: number) => delay(ms, undefined, { ref: false });
const never = () => new Promise<void>(() => {});

describe('the deliverer', () => {
  it('sends four messages to a webhook at once', async () => {
    const arrived: number[] = [];
    const { receiver } = await webhookWith(5, (number) => {
      arrived.push(number);
      return never();
    });
    await eventually(() => arrived.length >= 4);
    // Connections are accepted in their order, so a fifth message would come before this request.
    const body = JSON.stringify({ type: 'of the test' });
    const later: string[] = [];
    receiver.answer(({ type }) => {
      later.push(type);
      return { status: 204 };
    });
    await fetch(receiver.url, { method: 'POST', body });
    expect(arrived).toHaveLength(4);
    expect(later).toEqual(['of the test']);
  });

  it('stores outcomes after 50 messages', async () => {
    const left = Promise.withResolvers<number | undefined>();
    const { id } = await webhookWith(51, async (number) => {
      if (number === 51) await waitingCountOf(id).then(left.resolve, left.reject);
    });
    expect(await left.promise).toBe(1);
  });

  it('stores outcomes when a receiver has taken ten seconds', async () => {
    const left = Promise.withResolvers<number | undefined>();
    const { id } = await webhookWith(5, async (number) => {
      if (number === 5) await waitingCountOf(id).then(left.resolve, left.reject);
      else await delay(10_100);
    });
    expect(await left.promise).toBe(1);
  });

  it('claims a webhook for ten seconds, which it renews while it waits 15 seconds for an answer', async () => {
    const arrived = Promise.withResolvers<void>();
    const { id } = await webhookWith(1, () => {
      arrived.resolve();
      return delayedBy(17_000);
    });
    await arrived.promise;
    const claimedMs = async () => {
      const { claimedUntilUtc } = await app.database
        .of(app.workspaceId)
        .selectFrom('webhook')
        .select('claimedUntilUtc')
        .where('deletedUtc', 'is', null)
        .executeTakeFirstOrThrow();
      return Number(claimedUntilUtc) - Date.now();
    };
    const claims: number[] = [];
    await eventually(async () => {
      claims.push(await claimedMs());
      return (await webhooks.deliveries(id))[0]?.attemptCount === 1;
    });
    expect(await webhooks.deliveries(id)).toMatchObject([
      { attempts: [{ status: null, error: 'There was no complete answer within 15 s.' }] },
    ]);
    // The last one may be of a claim that was released.
    const whileWaiting = claims.slice(0, -1);
    expect(Math.max(...whileWaiting)).toBeLessThanOrEqual(10_000);
    expect(Math.min(...whileWaiting)).toBeGreaterThan(0);
  });
});

describe('webhookPing', () => {
  it('waits five seconds for an answer', async () => {
    const { id } = await webhookWith(0, () => delayedBy(7_000));
    expect(await webhooks.call('webhookPing', { id })).toMatchObject({
      isReceived: false,
      status: null,
      error: 'There was no complete answer within 5 s.',
    });
  });
});
