import { setTimeout as delay } from 'node:timers/promises';
import { Listeners, type Subscription } from './listeners.ts';
import type { DemoServer } from './demo-server.ts';
import { writeIssues } from './writers.ts';

export const changes = 10;

/** Live lists that all show an urgent issue. */
export interface OpenLists {
  readonly listeners: Listeners;
  /** Creates urgent issues, one after the other. Returns how long the last list waited for each, and the last after the first. */
  readonly measureChanges: () => Promise<{ lasts: number[]; spreads: number[] }>;
}

export async function openLists(
  server: DemoServer,
  count: number,
  of: (index: number) => Subscription,
): Promise<OpenLists> {
  const listeners = new Listeners(server);
  const arrivals: number[] = [];
  let heardAll = () => undefined as void;
  await listeners.openMany(count, of, (atMs) => {
    arrivals.push(atMs);
    if (arrivals.length === count) heardAll();
  });
  const measureChanges = async () => {
    const lasts: number[] = [];
    const spreads: number[] = [];
    for (let change = 0; change < changes; change += 1) {
      await delay(300);
      arrivals.length = 0;
      const all = new Promise<void>((resolve) => (heardAll = resolve));
      const written = await writeIssues(server, {
        connections: 1,
        perSecond: 1_000,
        count: 1,
        fields: { priority: 'URGENT' },
      });
      const [atMs = Number.NaN] = written.values();
      await Promise.race([all, delay(10_000)]);
      if (arrivals.length < count) throw new Error(`${arrivals.length} of ${count} streams heard of it.`);
      lasts.push(Math.max(...arrivals) - atMs);
      spreads.push(Math.max(...arrivals) - Math.min(...arrivals));
    }
    return { lasts, spreads };
  };
  return { listeners, measureChanges };
}
