import { setTimeout as delay } from 'node:timers/promises';
import { Listeners, type Subscription } from './listeners.ts';
import type { DemoServer } from './demo-server.ts';
import { writeIssues } from './writers.ts';

export const changes = 10;

/** Live lists that all show an urgent issue. */
export interface OpenLists {
  readonly listeners: Listeners;
  /** Creates urgent issues, one after the other. Returns for each when the last list received it, and how long after the first list, in ms. */
  readonly measureChanges: () => Promise<{ lasts: number[]; spreads: number[] }>;
}

export async function openLists(
  server: DemoServer,
  count: number,
  subscriptionOf: (index: number) => Subscription,
): Promise<OpenLists> {
  const listeners = new Listeners(server);
  const arrivals: number[] = [];
  let resolveAll = () => undefined as void;
  await listeners.openMany(count, subscriptionOf, (atMs) => {
    arrivals.push(atMs);
    if (arrivals.length === count) resolveAll();
  });
  const measureChanges = async () => {
    const lasts: number[] = [];
    const spreads: number[] = [];
    for (let change = 0; change < changes; change += 1) {
      await delay(300);
      arrivals.length = 0;
      const all = new Promise<void>((resolve) => (resolveAll = resolve));
      const written = await writeIssues(server, {
        connections: 1,
        perSecond: 1_000,
        count: 1,
        fields: { priority: 'URGENT' },
      });
      const [atMs = Number.NaN] = written.values();
      await Promise.race([all, delay(10_000)]);
      if (arrivals.length < count)
        throw new Error(`${arrivals.length} of ${count} streams received the change.`);
      lasts.push(Math.max(...arrivals) - atMs);
      spreads.push(Math.max(...arrivals) - Math.min(...arrivals));
    }
    return { lasts, spreads };
  };
  return { listeners, measureChanges };
}
