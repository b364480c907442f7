import { setTimeout as delay } from 'node:timers/promises';
import { Listeners } from './listeners.ts';
import { quantile, type Section } from './section.ts';
import { writeIssues } from './writers.ts';

const changes = 10;

/** One change to many equal streams: design figure 5. */
export const fanOut: Section = {
  name: 'fan-out',
  engines: ['postgres', 'embedded'],
  measure: async (place, scale) => {
    const count = Math.round(4_000 * scale);
    const arrivals: number[] = [];
    let heardAll = () => undefined as void;
    const listeners = new Listeners(place);
    const subscription = {
      query:
        'subscription { issues(filter: { priority: { eq: URGENT } }) { kind issue { key title status { name } } } }',
    };
    await listeners.openMany(
      count,
      () => subscription,
      (atMs) => {
        arrivals.push(atMs);
        if (arrivals.length === count) heardAll();
      },
    );
    const reads = async () =>
      (await place.metrics()).get('workgraph_stream_reads_total{kind="made"}') ?? Number.NaN;
    const spreads: number[] = [];
    const lasts: number[] = [];
    const readsBefore = await reads();
    for (let change = 0; change < changes; change += 1) {
      await delay(300);
      arrivals.length = 0;
      const all = new Promise<void>((resolve) => (heardAll = resolve));
      const written = await writeIssues(place, {
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
    const perChange = ((await reads()) - readsBefore) / changes;
    listeners.close();
    return [
      { what: `one change to ${count} equal streams, reads`, value: perChange, unit: 'a change', bound: 1 },
      { what: 'last socket, median', value: quantile(lasts, 0.5), unit: 'ms', bound: 250 },
      { what: 'last socket, longest', value: Math.max(...lasts), unit: 'ms' },
      { what: 'from the first socket to the last, median', value: quantile(spreads, 0.5), unit: 'ms' },
    ];
  },
};
