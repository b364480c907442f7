import { setTimeout as delay } from 'node:timers/promises';
import { Listeners } from './listeners.ts';
import type { Section } from './section.ts';

const watchedForMs = 30_000;

/** The cost of idle streams: design figure 4. */
export const streams: Section = {
  name: 'streams',
  engines: ['postgres'],
  measure: async (server, scale) => {
    const count = Math.round(10_000 * scale);
    const subscription = { query: 'subscription { changes { eventType issue { key title } } }' };
    const warm = new Listeners(server);
    await warm.openMany(
      50,
      () => subscription,
      () => undefined,
    );
    warm.close();
    await delay(3_000);
    const before = await server.memoryMb();
    const listeners = new Listeners(server);
    const beganMs = performance.now();
    await listeners.openMany(
      count,
      () => subscription,
      () => undefined,
    );
    const openedMs = performance.now() - beganMs;
    await delay(5_000);
    const cpu = async () => (await server.metrics()).get('process_cpu_seconds_total') ?? Number.NaN;
    const cpuBefore = await cpu();
    await delay(watchedForMs);
    const used = ((await cpu()) - cpuBefore) / (watchedForMs / 1_000);
    const memory = (await server.memoryMb()) - before;
    const left = listeners.open;
    listeners.close();
    return [
      { what: 'streams', value: count, unit: 'streams' },
      { what: 'opened at', value: (count / openedMs) * 1_000, unit: 'a second' },
      { what: 'memory above that without them', value: memory, unit: 'MB', bound: 300 },
      { what: 'of a core, with heartbeats', value: used * 100, unit: '%', bound: 2 },
      { what: 'cut', value: count - left, unit: 'streams', bound: 0 },
    ];
  },
};
