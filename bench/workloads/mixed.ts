import type { Workload } from './workload.ts';

export const mixed: readonly Workload[] = [
  {
    id: 'W9',
    title: 'mixed: 80 % reads (W3 45, W6 15, W2 10, W1 10), 20 % writes (W5 10, W7 6, W4 4)',
    input: () => ({}),
    mix: { W3: 45, W6: 15, W2: 10, W1: 10, W5: 10, W7: 6, W4: 4 },
  },
];
