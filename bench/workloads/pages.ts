import type { Workload } from './workload.ts';

/** The same page of 50 issues at the start and far in; how a contender names the place is its own business. */
export const pages: readonly Workload[] = [
  {
    id: 'W8',
    title: 'deep page: 50 issues after row 190,000',
    input: (random, { deep }) => ({ after: random.pick(deep) }),
    volatile: ['endCursor'],
  },
  { id: 'W8-first', title: 'first page of the same list', input: () => ({}), volatile: ['endCursor'] },
];
