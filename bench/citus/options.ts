import { parseArgs } from 'node:util';

/** The faults of `npm run faults` that need nothing but an empty database; those of replicas add a standby of the coordinator. */
export const sharedFaults: readonly string[] = [
  'server-killed',
  'answer-not-kept',
  'hot-team',
  'replica-lag',
  'replica-killed',
  'connections-cut',
  'network',
  'table-locked',
  'changes-kept',
  'rolling-restart',
  'worker-restarts',
  'worker-killed',
];

/** The faults of the nodes. */
export const nodeFaults = ['nodes-crashed', 'nodes-frozen', 'disks-full', 'nodes-promoted'] as const;
export type NodeFault = (typeof nodeFaults)[number];

const allFaults = [...sharedFaults, ...nodeFaults];

/** Whether the faults run: after the suites, alone, or not at all. */
const faultChoices = ['also', 'only', 'none'] as const;

/** The command line of `npm run citus`. */
export interface CitusOptions {
  /** The tree in which Citus was built. */
  readonly built: string;
  readonly faults: (typeof faultChoices)[number];
  /** Paths of tests, or with `--faults only` the names of faults; all of them when there are none. */
  readonly names: readonly string[];
}

/** Reads the command line, and throws what is wrong with it in words. */
export function citusOptions(args: readonly string[]): CitusOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { built: { type: 'string' }, faults: { type: 'string' } },
    allowPositionals: true,
  });
  const { built, faults: named = 'also' } = values;
  if (built === undefined)
    throw new Error('--built is the tree in which Citus was built, for the PostgreSQL of this machine.');
  const faults = faultChoices.find((choice) => choice === named);
  if (faults === undefined)
    throw new Error(`--faults is ${faultChoices.join(', ')}, not ${JSON.stringify(named)}.`);
  const unknown = faults === 'only' ? positionals.filter((name) => !allFaults.includes(name)) : [];
  if (unknown.length > 0)
    throw new Error(`There is no fault ${unknown.join(', ')} on Citus; there are ${allFaults.join(', ')}.`);
  return { built, faults, names: positionals };
}
