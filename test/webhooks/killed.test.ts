import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { httpClient } from '../support/http-client.ts';
import { type App, startApp } from '../support/app.ts';
import { issueWorld } from '../support/issue-world.ts';
import { callerOf } from '../support/mutations.ts';
import { webhookCalls } from './calls.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { hasServer, urlOf } from '../db/engines.ts';
import { startServerProcess } from '../support/server-processes.ts';

const settings = { WEBHOOK_NETWORKS: '127.0.0.1', SIGNING_KEYS: 'k'.repeat(32) };

// Only one process can use the embedded engine, so no other could take over from a killed one.
(hasServer ? describe : describe.skip)('when servers are killed while they deliver', () => {
  let app: App;
  let receiver: Receiver;
  beforeAll(async () => {
    app = await startApp({ settings });
    receiver = await startReceiver();
  });
  afterAll(async () => {
    receiver.close();
    await app.stop();
  });

  it('no message is lost, and the messages of an issue arrive in order', async () => {
    const world = await issueWorld(app);
    const ada = callerOf(app, world.ada.token);
    const { call, read } = webhookCalls(app);
    const { webhook } = await call('webhookCreate', { url: receiver.url });
    const issues = await Promise.all(
      [1, 2, 3, 4, 5].map((number) => ada.create({ teamId: world.eng.id, title: `Issue ${number}` })),
    );
    let written = issues.length;
    for (let round = 1; round <= 2; round += 1) {
      // This server writes, so it hears of the change first and delivers it.
      await using server = await startServerProcess(await urlOf(app.database), settings);
      const caller = callerOf(httpClient(server.url, app.token), world.ada.token);
      const comments = new Set<string>();
      for (let number = 0; number < 6; number += 1) {
        await Promise.all(
          issues.map(async ({ key }) => {
            const { comment } = await caller.mutate('commentCreate', {
              issueKey: key,
              body: `${round}.${number}`,
            });
            comments.add(comment.id);
          }),
        );
        written += issues.length;
      }
      // One of this round: others may still come from the server that is not killed.
      await receiver.until(1, ({ data }) => comments.has((data.change as { subjectId: string }).subjectId));
      await server.kill();
    }
    await eventually(async () => {
      const { waitingCount = 1, backlog = 1 } = (await read(webhook.id)) ?? {};
      return waitingCount === 0 && backlog === 0;
    });
    const firstById = new Map(receiver.messages.map((message) => [message.id, message]));
    expect(firstById.size).toBe(written);
    for (const { id } of issues) {
      const seen = new Set<string>();
      const positions = receiver.messages
        .filter(({ data }) => (data.issue as { id: string }).id === id)
        .filter((message) => !seen.has(message.id) && seen.add(message.id))
        .map(({ data }) => Number((data.change as { position: string }).position));
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    }
  });
});
