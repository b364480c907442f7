import type { Facts } from '../facts.ts';
import { patchOf, patchVolatile } from './rest.ts';
import type { Workload } from './workload.ts';
import { commentOn, counts, issueIn, newRow } from './writes.ts';

/** Writes that all change the same row, whose speed depends on locks and queues. */
export const hotSpots: readonly Workload[] = [
  {
    id: 'W4-team',
    title: 'issue create, all in one team',
    input: (random, { writeTeams }) => issueIn(random, first(writeTeams)),
    volatile: [...newRow, ...counts],
  },
  {
    id: 'W4-project',
    title: 'issue create, all in one project, spread over teams',
    input: (random, { writeTeams }) => ({
      ...issueIn(random, random.pick(writeTeams)),
      projectId: first(first(writeTeams).projectIds),
    }),
    volatile: [...newRow, ...counts],
  },
  {
    id: 'W5-issue',
    title: 'comment create, all on one issue',
    input: (random, facts) => commentOn(random, hotKey(facts)),
    volatile: newRow,
  },
  {
    id: 'W7-issue',
    title: 'REST: PATCH, all on one issue',
    input: (_random, facts, values) => patchOf(values, facts, hotKey(facts)),
    volatile: patchVolatile,
  },
];

const hotKey = ({ writeKeys }: Facts) => first(writeKeys);

function first<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error('The data has no row to write to.');
  return item;
}
