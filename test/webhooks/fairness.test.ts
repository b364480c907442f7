import { describe, expect, it } from '@jest/globals';
import { selectDueWebhooks } from '../../src/db/webhook-work.ts';
import { webhookDeliveryState, webhookState } from '../../src/model/codes.ts';
import { eventually } from '../support/eventually.ts';
import { issueWorld } from '../support/issue-world.ts';
import { callerOf } from '../support/mutations.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import { webhookCalls } from './calls.ts';
import { startReceiver } from './receiver.ts';
import { useWebhooks } from './use-webhooks.ts';

const { app, webhookWith } = useWebhooks();
const dayMs = 24 * 60 * 60_000;

describe('webhooks whose receivers hang', () => {
  it('take eight places of their workspace, and keep no other waiting', async () => {
    const released = Promise.withResolvers<void>();
    const begun = new Set<number>();
    // On a slow machine the first attempts are given up before the test ends, and others take their places.
    const hanging = new Set<number>();
    let mostHanging = 0;
    for (let number = 1; number <= 10; number += 1) {
      await webhookWith(1, async (_attempt, left) => {
        begun.add(number);
        hanging.add(number);
        mostHanging = Math.max(mostHanging, hanging.size);
        await Promise.race([released.promise, left]);
        hanging.delete(number);
      });
    }
    const workspace = await app.secondWorkspace();
    const { eng } = await issueWorld(app, workspace);
    const { token } = workspace;
    const receiver = await startReceiver();
    const otherWebhooks = webhookCalls(app, { token });
    const { webhook } = await otherWebhooks.call('webhookCreate', {
      url: receiver.url,
      eventTypes: ['issue.created.v1'],
    });
    const caller = callerOf(app, token);
    await caller.create({ teamId: eng.id, title: 'Not held up' });
    await receiver.until(1);
    await eventually(() => mostHanging >= 8);
    await caller.create({ teamId: eng.id, title: 'Not held up either' });
    await receiver.until(2);
    expect(mostHanging).toBe(8);
    released.resolve();
    await eventually(() => begun.size === 10);
    await otherWebhooks.call('webhookDelete', { id: webhook.id });
    receiver.close();
  });
});

describe('webhooks that are due', () => {
  it('are one of each workspace, then a second one of each, those first that were served longest ago', async () => {
    const second = await app.secondWorkspace();
    const tomorrow = new Date(Date.now() + dayMs);
    const stored = async (workspaceId: string, userAccountId: string, servedDaysAgo: number | null) => {
      const db = app.database.of(workspaceId);
      const { webhookId, deliveryId } = await storeWebhook(db, userAccountId);
      // The deliverer of the server leaves them alone until tomorrow.
      await db
        .updateTable('webhookDelivery')
        .set({ state: webhookDeliveryState.waiting, nextAttemptUtc: tomorrow, finishedUtc: null })
        .where('id', '=', deliveryId)
        .execute();
      const claimedUntilUtc = servedDaysAgo === null ? null : new Date(Date.now() - servedDaysAgo * dayMs);
      const head = await db.selectFrom('changeHead').select('position').executeTakeFirst();
      await db
        .updateTable('webhook')
        .set({ state: webhookState.active, claimedUntilUtc, position: head?.position ?? 0 })
        .where('id', '=', webhookId)
        .execute();
      return webhookId;
    };
    const home = (days: number | null) => stored(app.workspaceId, app.ownerUserAccountId, days);
    const other = (days: number | null) => stored(second.workspaceId, second.ownerUserAccountId, days);
    const [recent, never, old] = [await home(1), await home(null), await home(5)];
    const [otherOld, otherRecent] = [await other(3), await other(2)];
    const due = await selectDueWebhooks(app.database, new Date(tomorrow.getTime() + dayMs), 100);
    expect(due.map(({ id }) => id)).toEqual([never, otherOld, old, otherRecent, recent]);
    const firsts = await selectDueWebhooks(app.database, new Date(tomorrow.getTime() + dayMs), 2);
    expect(firsts.map(({ id }) => id)).toEqual([never, otherOld]);
  });
});
