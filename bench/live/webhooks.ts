import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../../test/faults/support/fault.ts';
import type { Section } from './section.ts';
import { writeIssues } from './writers.ts';

/** Deliveries to a receiver on the same machine: the throughput of design figure 10. */
export const webhooks: Section = {
  name: 'webhooks',
  engines: ['postgres', 'embedded'],
  settings: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
  measure: async (server, scale) => {
    const count = Math.round(5_000 * scale);
    const received = new Map<string, number>();
    let doubled = 0;
    let wantedCount = 0;
    let resolveWanted = () => undefined as void;
    const receiver = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      request.on('end', () => {
        response.writeHead(204).end();
        const requestId = /"requestId":"(w-[^"]+)"/.exec(text)?.[1];
        if (requestId === undefined) return;
        if (received.has(requestId)) doubled += 1;
        received.set(requestId, performance.now());
        if (received.size === wantedCount) resolveWanted();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const { webhookCreate } = (await server.graphql(
      'mutation ($url: URL!) { webhookCreate(input: { url: $url, eventTypes: ["issue.created.v1"] }) { webhook { id } } }',
      { url: `http://127.0.0.1:${port}/hook` },
    )) as unknown as { webhookCreate: { webhook: { id: string } } };
    const { id } = webhookCreate.webhook;
    const setState = (state: string) =>
      server.graphql(
        'mutation ($id: ID!, $state: WebhookState) { webhookUpdate(input: { id: $id, state: $state }) { webhook { id } } }',
        { id, state },
      );
    const until = (count: number) => {
      wantedCount = count;
      if (received.size >= count) return Promise.resolve();
      return new Promise<void>((resolve) => (resolveWanted = resolve));
    };
    const single = await writeIssues(server, { connections: 1, perSecond: 4, count: Math.ceil(40 * scale) });
    await Promise.race([until(single.size), delay(30_000)]);
    const delays = Array.from(single, ([requestId, atMs]) => (received.get(requestId) ?? Infinity) - atMs);
    await setState('DISABLED');
    await writeIssues(server, { connections: 8, perSecond: 1_000_000, count });
    await delay(1_500);
    received.clear();
    const all = until(count);
    await setState('ACTIVE');
    const beganMs = performance.now();
    await Promise.race([all, delay(120_000)]);
    const tookMs = performance.now() - beganMs;
    receiver.closeAllConnections();
    receiver.close();
    return [
      { what: 'one change, median', value: quantile(delays, 0.5), unit: 'ms' },
      { what: 'one change, 95 %', value: quantile(delays, 0.95), unit: 'ms' },
      {
        what: `${count} messages`,
        value: (received.size / tookMs) * 1_000,
        unit: 'a second',
        bound: 500,
        atLeast: true,
      },
      { what: 'lost', value: count - received.size, unit: 'messages', bound: 0 },
      { what: 'doubled', value: doubled, unit: 'messages', bound: 0 },
    ];
  },
};
