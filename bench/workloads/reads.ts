import type { Random } from '../random.ts';
import type { Facts } from '../facts.ts';
import type { Workload } from './workload.ts';

const tenTeams = (random: Random, { readTeams }: Facts) => ({
  codes: random.some(readTeams, 10).map(({ code }) => code),
});

export const reads: readonly Workload[] = [
  { id: 'W1', title: 'dashboard: 10 teams × (5 projects, 20 issues × 3 comments)', input: tenTeams },
  { id: 'W1t', title: 'dashboard with totalCount on each connection', input: tenTeams },
  { id: 'W1f', title: 'dashboard of open issues only', input: tenTeams },
  {
    id: 'W2',
    title: '100 whole issues of a team before a date',
    input: (random, { readTeams }) => ({
      teamId: random.pick(readTeams).id,
      before: new Date(Date.UTC(2025, 0, 1) + random.below(640) * 86_400_000).toISOString(),
    }),
  },
  {
    id: 'W3',
    title: 'one issue by key with 20 comments',
    input: (random, { commentedKeys }) => ({ key: random.pick(commentedKeys) }),
  },
];

/** The same reads with documents that the server has not seen, which measures the compilation. */
export const newDocuments: readonly Workload[] = reads
  .filter(({ id }) => ['W1', 'W2', 'W3'].includes(id))
  .map((read) => ({ ...read, id: `${read.id}-new`, title: `${read.title}: a new document each time` }));
