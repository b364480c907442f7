import { setTimeout as delay } from 'node:timers/promises';
import { Listeners } from './listeners.ts';
import type { Server } from './demo-server.ts';
import { quantile } from '../../test/faults/support/fault.ts';
import type { Figure, Section } from './section.ts';
import { writeIssues, type Acknowledgements } from './writers.ts';

const subscription = { query: 'subscription { changes { requestId eventType } }' };

/** The time from the answer to a write until a stream receives the change: design figure 3. */
export const lag: Section = {
  name: 'lag',
  engines: ['postgres', 'embedded'],
  measure: async (server, scale) => {
    const figures: Figure[] = [];
    const sameProcess = await follow(server, server.token);
    const other = await server.startAnother().catch(() => undefined);
    const otherProcess = other && (await follow(other, server.token));
    await writeIssues(server, { connections: 16, perSecond: 500, count: 500 });
    const idle = await writeIssues(server, { connections: 1, perSecond: 5, count: Math.ceil(50 * scale) });
    await delay(1_500);
    const idleLags = sameProcess.lagsOf(idle);
    figures.push({ what: 'idle, median', value: quantile(idleLags, 0.5), unit: 'ms', bound: 15 });
    const seconds = 20 * scale;
    const beganMs = performance.now();
    const written = await writeIssues(server, { connections: 16, perSecond: 500, count: 500 * seconds });
    const perSecond = (written.size / (performance.now() - beganMs)) * 1_000;
    await delay(2_000);
    const lags = sameProcess.lagsOf(written);
    figures.push(
      { what: 'writes', value: perSecond, unit: 'a second' },
      { what: 'under writes, median', value: quantile(lags, 0.5), unit: 'ms', bound: 30 },
      { what: 'under writes, 99 %', value: quantile(lags, 0.99), unit: 'ms', bound: 150 },
      { what: 'lost', value: written.size - lags.length, unit: 'changes', bound: 0 },
    );
    if (otherProcess) {
      const others = otherProcess.lagsOf(written);
      figures.push(
        { what: 'in another process, 99 %', value: quantile(others, 0.99), unit: 'ms', bound: 250 },
        { what: 'lost in another process', value: written.size - others.length, unit: 'changes', bound: 0 },
      );
    }
    sameProcess.close();
    otherProcess?.close();
    return figures;
  },
};

/** Opens a stream that records when each change arrives. */
async function follow({ port }: Pick<Server, 'port'>, token: string) {
  const received = new Map<string, number>();
  const listeners = new Listeners({ port, token });
  await listeners.openOne(subscription, (atMs, json) => {
    const { data } = JSON.parse(json) as { data: { changes: { requestId: string } } };
    received.set(data.changes.requestId, atMs);
  });
  return {
    lagsOf: (written: Acknowledgements) =>
      Array.from(written).flatMap(([requestId, atMs]) => {
        const receivedMs = received.get(requestId);
        // A stream may receive a change before the writer has read the answer.
        return receivedMs === undefined ? [] : [Math.max(receivedMs - atMs, 0)];
      }),
    close: () => listeners.close(),
  };
}
