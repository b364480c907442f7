import { afterEach } from '@jest/globals';
import { numberAllChanges } from '../live/logged.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Gives a suite a server that may send to this machine, and webhooks that are deleted after each test. */
export function useWebhooks() {
  const { app, world, ada } = useIssueWorld({
    ownDatabase: true,
    settings: { WEBHOOK_NETWORKS: '127.0.0.1' },
  });
  const webhooks = webhookCalls(app);
  const created: { receiver: Receiver; id: string }[] = [];
  afterEach(async () => {
    for (const { receiver, id } of created.splice(0)) {
      receiver.close();
      await webhooks.call('webhookDelete', { id });
    }
  });
  /**
   * Creates issues and a webhook with a message for each of them, all due at the same time. The receiver calls `answerTo` with the
   * number of each message, and answers with the status that it resolves with, or else with 204.
   */
  const webhookWith = async (
    messages: number,
    answerTo: (number: number, left: Promise<unknown>) => Promise<void | { status: number }>,
    eventTypes = ['issue.created.v1'],
  ): Promise<{ id: string; receiver: Receiver }> => {
    const receiver = await startReceiver();
    let count = 0;
    receiver.answer(async (_message, left) => {
      count += 1;
      return (await answerTo(count, left)) ?? { status: 204 };
    });
    await numberAllChanges(app.database);
    const { webhook } = await webhooks.call('webhookCreate', {
      url: receiver.url,
      eventTypes,
    });
    const { id } = webhook;
    created.push({ receiver, id });
    await webhooks.call('webhookUpdate', { id, state: 'DISABLED' });
    await Promise.all(
      Array.from({ length: messages }, (_, number) =>
        ada.create({ teamId: world.eng.id, title: `Issue ${number}` }),
      ),
    );
    await numberAllChanges(app.database);
    await webhooks.call('webhookUpdate', { id, state: 'ACTIVE' });
    return { id, receiver };
  };
  /** How many messages of a webhook have no stored outcome. */
  const waitingCountOf = async (id: string) => (await webhooks.read(id))?.waitingCount;
  return { app, world, ada, webhooks, webhookWith, waitingCountOf };
}
