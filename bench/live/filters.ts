import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../http/connection.ts';
import { changes, openLists } from './one-change.ts';
import type { DemoServer } from './demo-server.ts';
import { quantile } from '../../test/faults/support/fault.ts';
import type { Figure, Section } from './section.ts';
import { writeIssues } from './writers.ts';

const query =
  'subscription ($filter: IssueFilter) { issues(filter: $filter) { kind issue { key title status { name } } } }';

/** Live lists of as many filters as there are streams: design figure 6, and the delay of a change that all of them show. */
export const filters: Section = {
  name: 'filters',
  engines: ['postgres', 'embedded'],
  measure: async (server, scale) => {
    const count = Math.round(1_000 * scale);
    const seconds = 15 * scale;
    await readP99UnderWrites(server, Math.max(seconds / 3, 2));
    const alone = await readP99UnderWrites(server, seconds);
    const filter = (n: number) => ({
      priority: { eq: 'URGENT' },
      status: { isTerminal: { eq: false } },
      not: { estimateValue: { eq: 1_000 + n } },
    });
    const { listeners, measureChanges } = await openLists(server, count, (n) => ({
      query,
      variables: { filter: filter(n) },
    }));
    const statements = async () => (await server.metrics()).get(statementCount) ?? Number.NaN;
    const before = await statements();
    const { lasts } = await measureChanges();
    const perChange = ((await statements()) - before) / changes;
    const beside = await readP99UnderWrites(server, seconds);
    listeners.close();
    const figures: Figure[] = [
      {
        what: `one change to ${count} different lists, last socket, median`,
        value: quantile(lasts, 0.5),
        unit: 'ms',
        bound: 150,
      },
      { what: 'last socket, longest', value: Math.max(...lasts), unit: 'ms' },
      { what: 'statements for it and its write', value: perChange, unit: 'a change', bound: count },
      { what: "requests' 99 % without lists, beside 100 changes a second", value: alone, unit: 'ms' },
      { what: "requests' 99 % with lists", value: beside, unit: 'ms' },
      { what: 'ratio', value: beside / alone, unit: '×', bound: 1.2 },
    ];
    return figures;
  },
};

const statementCount = 'workgraph_statement_duration_seconds_count{outcome="ok"}';

/** The 99th percentile of reads while 100 issues a second are created, which the lists do not show. */
async function readP99UnderWrites(server: DemoServer, seconds: number): Promise<number> {
  const took: number[] = [];
  const over = new AbortController();
  const readers = Array.from({ length: 4 }, async () => {
    const connection = await Connection.open(server.port);
    while (!over.signal.aborted) {
      const beganMs = performance.now();
      await connection.send({
        method: 'GET',
        path: '/v1/issues?page_size=5',
        headers: { Authorization: `Bearer ${server.token}` },
      });
      took.push(performance.now() - beganMs);
      await delay(20);
    }
    connection.close();
  });
  await writeIssues(server, { connections: 8, perSecond: 100, count: 100 * seconds });
  over.abort();
  await Promise.all(readers);
  return quantile(took, 0.99);
}
