import type { Workload } from './workload.ts';

/** A page of 50 issues, at the start of the list and far from it. Each contender has its own form of positions. */
export const pages: readonly Workload[] = [
  {
    id: 'W8',
    title: 'deep page: 50 issues after row 190,000',
    input: (random, { deep }) => ({ after: random.pick(deep) }),
    volatile: ['endCursor'],
  },
  { id: 'W8-first', title: 'first page of the same list', input: () => ({}), volatile: ['endCursor'] },
];
