import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { claimWebhook, releaseWebhook } from '../../src/db/webhook-work.ts';
import { webhookState } from '../../src/model/codes.ts';
import { oldWebhookDeliveries } from '../../src/resolvers/housekeeping.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { newUuid } from '../../src/resolvers/ids.ts';

const { app } = useIssueWorld({ ownDatabase: true });
const dayMs = 24 * 60 * 60_000;

it('the janitor removes messages after three days, and deleted webhooks with theirs', async () => {
  const db = app.database.of(app.workspaceId);
  const count = async () => {
    const webhooks = await db.selectFrom('webhook').select('id').execute();
    const deliveries = await db.selectFrom('webhookDelivery').select('id').execute();
    return [webhooks.length, deliveries.length];
  };
  const { webhookId: kept } = await storeWebhook(db, app.ownerUserAccountId);
  const { webhookId: deleted } = await storeWebhook(db, app.ownerUserAccountId);
  const chore = oldWebhookDeliveries(app.database);
  const now = new Date();
  expect(await chore.doSome(new Date(now.getTime() + 2.9 * dayMs))).toBe(0);
  await db.updateTable('webhook').set({ deletedUtc: now }).where('id', '=', deleted).execute();
  expect(await chore.doSome(now)).toBe(2);
  expect(await count()).toEqual([1, 1]);
  expect(await chore.doSome(new Date(now.getTime() + 3.1 * dayMs))).toBe(1);
  expect(await chore.doSome(new Date(now.getTime() + 3.1 * dayMs))).toBe(0);
  expect(await count()).toEqual([1, 0]);
  expect(await brokenInvariants(app.database)).toEqual({});
  await sql`delete from webhook where id = ${kept}`.execute(app.database.unscoped);
});

it('one process at a time has the claim to a webhook, until it releases the claim or the claim expires', async () => {
  const db = app.database.of(app.workspaceId);
  const { webhookId: id } = await storeWebhook(db, app.ownerUserAccountId);
  // The next attempt is tomorrow, so that the deliverer of the server leaves the webhook alone.
  await db
    .updateTable('webhook')
    .set({ state: webhookState.backing_off, nextAttemptUtc: new Date(Date.now() + dayMs) })
    .where('id', '=', id)
    .execute();
  const [one, two] = [newUuid(), newUuid()];
  const now = new Date();
  const claim = (by: string, at = now) =>
    claimWebhook(db, id, by, { now: at, until: new Date(at.getTime() + 40_000) });
  const both = await Promise.all([claim(one), claim(two)]);
  expect(both.filter((row) => row !== undefined)).toHaveLength(1);
  const [winner, loser] = both[0] ? [one, two] : [two, one];
  expect(await claim(winner)).toBeDefined();
  expect(await claim(loser)).toBeUndefined();
  await releaseWebhook(db, id, loser, now);
  expect(await claim(loser)).toBeUndefined();
  expect(await claim(loser, new Date(now.getTime() + 41_000))).toBeDefined();
  await releaseWebhook(db, id, loser, now);
  expect(await claim(winner, new Date(now.getTime() + 1))).toBeDefined();
});
