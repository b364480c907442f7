import { parseArgs } from 'node:util';
import { contenders } from './contenders/all.ts';
import { workloads } from './workloads/all.ts';

/** The options of the check of shapes. */
export interface ShapesOptions {
  /** Whether to continue a check that was interrupted. */
  readonly isResumed: boolean;
  /** Only filters whose name contains this. */
  readonly only: string | undefined;
  /** Check one in so many orders of each filter. */
  readonly oneOf: number;
  /** Whether the list of pages that end early is rewritten. */
  readonly writes: boolean;
}

export interface Options {
  readonly only: readonly string[];
  readonly contenders: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly issues: number;
  readonly keep: boolean;
  readonly fresh: boolean;
  readonly stop: boolean;
  readonly check: boolean;
  readonly write: boolean;
  readonly shapes: ShapesOptions | false;
  /** Whether only what writes add to the write-ahead log is measured. */
  readonly wal: boolean;
  /** Whether only what grows with the number of workspaces is measured, and the model of the capacity printed. */
  readonly capacity: boolean;
  /** The numbers of issues for which the engines are compared; undefined to compare the contenders. */
  readonly engineSizes: readonly number[] | undefined;
}

const optional = contenders.filter(({ isOptional }) => isOptional).map(({ name }) => name);

const help = `npm run bench -- [options]

  --only W1,W3          workloads to run (default: all); W4 also names W4-team and W4-project, W1 also W1-new
  --contenders a,b      ${contenders.map(({ name }) => name).join(', ')}
                        (default: all but ${optional.join(' and ')})
  --rounds N            rounds of each workload, in which the contenders take turns (default 5)
  --seconds S           length of one contender's turn (default 5)
  --issues N            issues in the database (default 200000; 1000000 for --shapes)
  --keep                leave the database server running for the next run
  --fresh               make the database anew; otherwise bench/.cluster is used again when it fits
  --stop                stop a database server that was kept, and do nothing else
  --check               only compare the answers of the contenders
  --write               write bench/RESULTS.md and bench/results.svg also when only a part was run; with --shapes, write
                        the list of pages that end early (shapes/short/)
  --shapes              instead, judge what every filter and order of the graph reads, on skewed data (shapes/)
  --shape TEXT          only filters whose name contains this, such as 'issues labels'
  --one-of N            one of N orders of each filter (default 1: all)
  --resume              go on where an earlier check of shapes was stopped
  --engine embedded     instead, compare the embedded engine with PostgreSQL at 1,000, 10,000 and 100,000 issues, or at
                        --issues N; with BENCH_BEFORE, that checkout and this one on the embedded engine
  --wal                 instead, measure what each kind of write adds to the write-ahead log
  --capacity            instead, measure what grows with the number of workspaces, and print where a large service is full
  --help

  BENCH_DATABASE_URL    an empty PostgreSQL database to use instead of a private one
  BENCH_CLUSTER_DIR     where the private one is kept (default bench/.cluster)
  BENCH_PRODUCT         another checkout of the product to measure (default: this one)
  BENCH_BEFORE          an earlier checkout that takes part as the contender "before", on a database of its own
  BENCH_PROFILE         a directory for CPU profiles of the product, one for each process
  BENCH_NICE            priority of all that is measured, -20 (first) to 19, where others use the machine (default 0)
  LIMIT_TOKEN_CACHE_MS  how long LIMIT remembers a token (default 1000; 0: looks each request's up)

Workloads:
${workloads.map(({ id, title }) => `  ${id.padEnd(12)}${title}`).join('\n')}
`;

/** Reads the command line. Prints the help and returns undefined if asked for; throws if an option is invalid. */
export function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      contenders: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      issues: { type: 'string' },
      keep: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      stop: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      shapes: { type: 'boolean', default: false },
      shape: { type: 'string' },
      'one-of': { type: 'string', default: '1' },
      resume: { type: 'boolean', default: false },
      wal: { type: 'boolean', default: false },
      capacity: { type: 'boolean', default: false },
      engine: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return undefined;
  }
  const ids = workloads.map(({ id }) => id);
  const named = (values.only?.split(',') ?? ids).flatMap((name) => {
    const found = ids.filter((id) => id === name || id.startsWith(`${name}-`));
    if (found.length === 0) throw new Error(`There is no workload ${name}; --help lists them.`);
    return found;
  });
  const names = contenders.map(({ name }) => name);
  const chosen = values.contenders?.split(',') ?? names.filter((name) => !optional.includes(name));
  for (const name of chosen) if (!names.includes(name)) throw new Error(`There is no contender ${name}.`);
  if (values.write && !values.shapes && !chosen.includes('limit'))
    throw new Error('--write needs LIMIT among the contenders: the ratios of the report are relative to it.');
  const { keep, fresh, stop, check, write, shapes, shape, resume, wal, capacity } = values;
  return {
    only: [...new Set(named)],
    contenders: chosen,
    rounds: number('rounds', values.rounds),
    seconds: number('seconds', values.seconds),
    issues: number('issues', values.issues ?? (shapes ? '1000000' : '200000')),
    keep,
    fresh,
    stop,
    check,
    write: write || (!values.only && !values.contenders),
    wal,
    capacity,
    engineSizes: engineSizes(values),
    shapes: shapes && {
      isResumed: resume,
      only: shape,
      oneOf: number('one-of', values['one-of']),
      writes: write,
    },
  };
}

function engineSizes({ engine, issues }: { engine?: string; issues?: string }): number[] | undefined {
  if (engine === undefined) return undefined;
  if (engine !== 'embedded')
    throw new Error('--engine embedded compares the embedded engine with PostgreSQL.');
  return issues === undefined ? [1_000, 10_000, 100_000] : [number('issues', issues)];
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`);
  return value;
}
