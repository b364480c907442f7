import { describe, expect, it } from '@jest/globals';
import { onStatement } from '../../src/db/engine/meter.ts';
import { eventually } from '../support/eventually.ts';
import { issueWorld } from '../support/issue-world.ts';
import { callerOf } from '../support/mutations.ts';
import type { ReceivedMessage } from './receiver.ts';
import { useWebhooks } from './use-webhooks.ts';

const { app, world, ada, webhooks, webhookWith } = useWebhooks();

const createIssues = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, number) =>
      ada.create({ teamId: world.eng.id, title: `Issue ${number}` }),
    ),
  );
const commentOn = (issueKey: string, body: string) => ada.mutate('commentCreate', { issueKey, body });
/** How many changes have no position yet. */
const unnumberedCount = async () =>
  (await app.database.unscoped.selectFrom('changeInbox').select('id').execute()).length;
const keyOf = ({ data }: Pick<ReceivedMessage, 'data'>) => (data.change as { issueKey: string }).issueKey;
const textOf = ({ data }: Pick<ReceivedMessage, 'data'>) =>
  /"text":"(\w+)"/.exec(JSON.stringify((data.comment as { body: unknown }).body))?.[1];

/** A webhook for comments whose receiver does not answer the first message of an issue until it is released. */
async function webhookWithHangingMessage(answerOthers: (key: string) => Promise<{ status: number }>) {
  const { id, receiver } = await webhookWith(0, async () => {}, ['issue-comment.created.v1']);
  const [hanging, ...others] = await createIssues(6);
  if (!hanging) throw new Error('There is no issue.');
  const released = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const begun: string[] = [];
  receiver.answer(async (message) => {
    const key = keyOf(message);
    begun.push(key);
    if (key !== hanging.key) return answerOthers(key);
    arrived.resolve();
    await released.promise;
    return { status: 204 };
  });
  await commentOn(hanging.key, 'first');
  await arrived.promise;
  /** Whether the attempt of the message that hangs has ended without an answer. */
  const hasTimedOut = async () => {
    const deliveries = await webhooks.deliveries(id);
    return deliveries.some(({ issueId, attemptCount }) => issueId === hanging.id && Number(attemptCount) > 0);
  };
  const keys = others.map(({ key }) => key);
  return { id, receiver, hanging: hanging.key, others: keys, begun, release: released.resolve, hasTimedOut };
}

describe('a message that hangs', () => {
  it('holds up only the later messages of its issue', async () => {
    const { receiver, hanging, others, begun, release, hasTimedOut } = await webhookWithHangingMessage(
      async () => ({
        status: 204,
      }),
    );
    await commentOn(hanging, 'second');
    const [other = ''] = others;
    for (let number = 1; number <= 5; number += 1) {
      await commentOn(other, `${number}`);
      await receiver.until(number, (message) => keyOf(message) === other);
    }
    expect(await hasTimedOut()).toBe(false);
    expect(begun.filter((key) => key === hanging)).toHaveLength(1);
    expect(receiver.messages.map(textOf)).toEqual(['1', '2', '3', '4', '5']);
    release();
    const ofHanging = await receiver.until(2, (message) => keyOf(message) === hanging);
    expect(ofHanging.map(textOf)).toEqual(['first', 'second']);
  });

  it('leaves three places for messages of other issues', async () => {
    const gate = Promise.withResolvers<void>();
    let inProgress = 1;
    let maxInProgress = 1;
    const { receiver, others, begun, release, hasTimedOut } = await webhookWithHangingMessage(async () => {
      inProgress += 1;
      maxInProgress = Math.max(maxInProgress, inProgress);
      await gate.promise;
      inProgress -= 1;
      return { status: 204 };
    });
    await Promise.all(others.map((key) => commentOn(key, 'other')));
    await eventually(() => begun.length >= 4);
    gate.resolve();
    await receiver.until(others.length);
    expect(await hasTimedOut()).toBe(false);
    expect(maxInProgress).toBe(4);
    release();
  });

  it('does not hold up the retry of another', async () => {
    let attempts = 0;
    const { receiver, others, release, hasTimedOut } = await webhookWithHangingMessage(async () => {
      attempts += 1;
      return { status: attempts === 1 ? 500 : 204 };
    });
    await commentOn(others[0] ?? '', 'other');
    await receiver.until(1, ({ status }) => status === 500);
    await receiver.until(1, ({ status }) => status === 204);
    expect(await hasTimedOut()).toBe(false);
    release();
  });

  it('makes its webhook look for changes of its own workspace only', async () => {
    const { release } = await webhookWithHangingMessage(async () => ({ status: 204 }));
    const second = await issueWorld(app, await app.secondWorkspace());
    const other = callerOf(app, second.ada.token);
    let searchCount = 0;
    const stop = onStatement(({ sql }) => {
      if (/count\(\*\).* from "webhook_delivery"/.test(sql)) searchCount += 1;
    });
    for (let number = 1; number <= 30; number += 1) {
      await other.create({ teamId: second.eng.id, title: `Elsewhere ${number}` });
      await eventually(async () => (await unnumberedCount()) === 0);
    }
    // The deliverer may not have read the change of the comment itself yet.
    expect(searchCount).toBeLessThan(3);
    const before = searchCount;
    await ada.create({ teamId: world.eng.id, title: 'In its own workspace' });
    await eventually(() => searchCount > before);
    stop();
    release();
  });

  it('changes nothing of a webhook that another message has disabled', async () => {
    const { id, receiver } = await webhookWith(2, async (number) => {
      if (number === 1) await eventually(async () => (await webhooks.read(id))?.state === 'DISABLED');
      return { status: 410 };
    });
    await receiver.until(2);
    const isStored = ({ attemptCount }: Record<string, unknown>) => attemptCount === 1;
    await eventually(async () => (await webhooks.deliveries(id)).every(isStored));
    expect(await webhooks.read(id)).toMatchObject({ state: 'DISABLED', failures: 1 });
    const { body } = await app.graphql<{ changes: { nodes: { subjectId: string }[] } }>(
      '{ changes(filter: { eventType: { eq: "webhook.disabled.v1" } }) { nodes { subjectId } } }',
    );
    expect(body.data?.changes.nodes).toEqual([{ subjectId: id }]);
  });
});
