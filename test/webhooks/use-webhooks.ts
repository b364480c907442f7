import { afterEach } from '@jest/globals';
import { numberAll } from '../live/logged.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Gives a suite a server that may send to this machine, and webhooks that are deleted after each test. */
export function useWebhooks() {
  const { app, world, ada } = useIssueWorld({
    ownDatabase: true,
    settings: { WEBHOOK_NETWORKS: '127.0.0.1' },
  });
  const hooks = () => webhookCalls(app);
  const open: { receiver: Receiver; id: string }[] = [];
  afterEach(async () => {
    for (const { receiver, id } of open.splice(0)) {
      receiver.close();
      await hooks().call('webhookDelete', { id });
    }
  });
  /**
   * Creates a webhook that has a message for each of some new issues, all due at the same time. The receiver waits for `answered`, which
   * gets the number of the message, and then answers with its status, or with 204.
   */
  const webhookWith = async (
    messages: number,
    answered: (number: number) => Promise<void | { status: number }>,
    eventTypes = ['issue.created.v1'],
  ): Promise<{ id: string; receiver: Receiver }> => {
    const receiver = await startReceiver();
    let count = 0;
    receiver.answer(async () => {
      count += 1;
      return (await answered(count)) ?? { status: 204 };
    });
    await numberAll(app.database);
    const { webhook } = await hooks().call('webhookCreate', {
      url: receiver.url,
      eventTypes,
    });
    const { id } = webhook;
    open.push({ receiver, id });
    await hooks().call('webhookUpdate', { id, state: 'DISABLED' });
    await Promise.all(
      Array.from({ length: messages }, (_, number) =>
        ada.create({ teamId: world.eng.id, title: `Issue ${number}` }),
      ),
    );
    await numberAll(app.database);
    await hooks().call('webhookUpdate', { id, state: 'ACTIVE' });
    return { id, receiver };
  };
  /** How many messages of a webhook have no stored outcome. */
  const waiting = async (id: string) => (await hooks().read(id))?.waitingCount;
  return { app, world, ada, hooks, webhookWith, waiting };
}
