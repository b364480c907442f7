import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { numberAllChanges } from '../live/logged.ts';
import { eventually } from '../support/eventually.ts';
import { webhookCalls } from './calls.ts';
import { startReceiver } from './receiver.ts';
import { useWebhooks } from './use-webhooks.ts';
import { uuidOf } from '../support/ids.ts';

const { app, world, ada, webhooks, webhookWith, waitingCountOf } = useWebhooks();

/** An update of the deliveries of a webhook by SQL, of which the service does not know. */
const deliveriesOf = (id: string) =>
  app.database.of(app.workspaceId).updateTable('webhookDelivery').where('webhookId', '=', uuidOf(id));

describe('a delivery', () => {
  /** The statuses of the stored attempts after an attempt during which another process has stored this many. */
  async function statusesAfter(others: number): Promise<unknown> {
    const attempted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const { id } = await webhookWith(1, async () => {
      attempted.resolve();
      await ended.promise;
    });
    await attempted.promise;
    // This is what another process would store after this one had lost its claim.
    const stored = Array.from({ length: others }, (_, ms) => ({
      utc: '',
      status: 500,
      ms,
      error: null,
      head: '',
    }));
    await deliveriesOf(id)
      .set({ attempts: JSON.stringify(stored), attemptCount: others })
      .execute();
    ended.resolve();
    await eventually(async () => (await webhooks.deliveries(id))[0]?.attemptCount === others + 1);
    const [delivery] = await app.database
      .of(app.workspaceId)
      .selectFrom('webhookDelivery')
      .select('attempts')
      .where('webhookId', '=', uuidOf(id))
      .execute();
    return delivery?.attempts.map(({ status }) => status);
  }

  it('has the attempts of all processes, at most ten', async () => {
    expect(await statusesAfter(1)).toEqual([500, 204]);
    expect(await statusesAfter(10)).toEqual([...Array<number>(9).fill(500), 204]);
  });
});

describe('a webhook that is changed during its attempts', () => {
  it('sends further messages to its new URL', async () => {
    const moved = await startReceiver();
    let change: Promise<unknown> | undefined;
    const { id, receiver } = await webhookWith(8, async () => {
      await (change ??= webhooks.call('webhookUpdate', { id, url: moved.url }));
      await delay(1_100);
    });
    await moved.until(4);
    moved.close();
    expect(receiver.messages).toHaveLength(4);
  });

  it('does not send a message again that its new scopes do not cover', async () => {
    const attempted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const { id } = await webhookWith(1, async () => {
      attempted.resolve();
      await ended.promise;
      return { status: 500 };
    });
    await attempted.promise;
    // As if it was created while the webhook was also sent events of members.
    await deliveriesOf(id).set({ eventType: 'member.updated.v1' }).execute();
    const token = await app.tokenFor({ role: 'admin', scopes: ['workspace:admin', 'issues:read'] });
    await webhookCalls(app, { token }).call('webhookUpdate', { id, description: 'Mine now.' });
    expect(await webhooks.deliveries(id)).toMatchObject([{ state: 'FAILED', attemptCount: 0 }]);
    ended.resolve();
    await eventually(async () => (await webhooks.deliveries(id))[0]?.attemptCount === 1);
    expect(await webhooks.deliveries(id)).toMatchObject([{ state: 'FAILED', nextAttemptUtc: null }]);
  });

  it('stays disabled by its member, whatever the receiver answers', async () => {
    const gone = Promise.withResolvers<void>();
    const { id } = await webhookWith(1, async () => {
      await webhooks.call('webhookUpdate', { id, state: 'DISABLED' });
      gone.resolve();
      return { status: 410 };
    });
    await gone.promise;
    await eventually(async () => (await webhooks.deliveries(id))[0]?.attemptCount === 1);
    expect(await webhooks.read(id)).toMatchObject({
      state: 'DISABLED',
      disabledReason: null,
      nextAttemptUtc: null,
    });
  });
});

describe('a webhook that the service fails to serve', () => {
  it('is tried again after longer and longer pauses, while others are served', async () => {
    const { id } = await webhookWith(1, async (number) => ({ status: number === 1 ? 500 : 204 }));
    await eventually(async () => (await webhooks.deliveries(id))[0]?.attemptCount === 1);
    const first = sql`attempts -> 0`;
    // The outcome of another attempt cannot be added to this.
    await deliveriesOf(id)
      .set({ attempts: sql`jsonb_build_object('length', 1, '0', ${first})`, nextAttemptUtc: new Date() })
      .execute();
    // Longer than the first pauses, and shorter than the claim at the start of a round.
    await eventually(async () => {
      const ms = await pauseOf(id);
      return ms > 2_500 && ms < 8_000;
    });
    const { receiver: other } = await webhookWith(2, async () => {});
    await other.until(2);
    await deliveriesOf(id)
      .where('attemptCount', '=', 1)
      .set({ attempts: sql`jsonb_build_array(attempts -> '0')` })
      .execute();
    await eventually(async () => (await waitingCountOf(id)) === 0);
    const states = (await webhooks.deliveries(id)).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['DELIVERED']));
  });

  /** For how many milliseconds no process serves a webhook. */
  const pauseOf = async (id: string) => {
    const row = await app.database
      .of(app.workspaceId)
      .selectFrom('webhook')
      .select('claimedUntilUtc')
      .where('id', '=', uuidOf(id))
      .executeTakeFirst();
    return row?.claimedUntilUtc ? row.claimedUntilUtc.getTime() - Date.now() : 0;
  };
});

describe('changes with long texts', () => {
  it('become messages, even if their issues are too large for one answer', async () => {
    const { id, receiver } = await webhookWith(0, async () => {});
    await webhooks.call('webhookUpdate', { id, state: 'DISABLED' });
    const description = 'a'.repeat(100_000);
    for (let number = 1; number <= 101; number += 1)
      await ada.create({ teamId: world.eng.id, title: `Long ${number}`, description });
    await numberAllChanges(app.database);
    await webhooks.call('webhookUpdate', { id, state: 'ACTIVE' });
    expect(await receiver.until(101)).toHaveLength(101);
  });
});
