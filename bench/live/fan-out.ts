import { changes, openLists } from './one-change.ts';
import { quantile } from '../../test/faults/support/fault.ts';
import type { Section } from './section.ts';

const subscription = {
  query:
    'subscription { issues(filter: { priority: { eq: URGENT } }) { kind issue { key title status { name } } } }',
};

/** One change to many equal streams: design figure 5. */
export const fanOut: Section = {
  name: 'fan-out',
  engines: ['postgres', 'embedded'],
  measure: async (server, scale) => {
    const count = Math.round(4_000 * scale);
    const { listeners, measureChanges } = await openLists(server, count, () => subscription);
    const reads = async () =>
      (await server.metrics()).get('workgraph_stream_reads_total{kind="made"}') ?? Number.NaN;
    const readsBefore = await reads();
    const { lasts, spreads } = await measureChanges();
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
