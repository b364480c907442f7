import { setTimeout as delay } from 'node:timers/promises';
import { checkEqual } from './check.ts';
import type { Facts } from './facts.ts';
import { Connection } from './http/connection.ts';
import { measure, refuseFailure, type Sample } from './load.ts';
import { type RunningContender, start } from './process.ts';
import { Random } from './random.ts';
import type { StatementCounter } from './statements.ts';
import { workloadOf } from './workloads/all.ts';
import type { Workload } from './workloads/workload.ts';

/** The rounds of a workload for one contender. */
export interface Series {
  readonly contender: string;
  readonly samples: readonly Sample[];
  /** SQL statements per request; undefined if they cannot be counted. */
  readonly statements: number | undefined;
}

export interface Result {
  readonly workload: Workload;
  readonly series: readonly Series[];
}

export interface RunOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly postmaster: number | undefined;
  readonly counter: StatementCounter | undefined;
}

/**
 * Runs a workload on the contenders that have it, in turns, each after a warm-up. Each round begins with the next contender: A, B, C,
 * B, C, A …, because what a turn leaves behind burdens the one after it.
 */
export async function run(
  all: readonly RunningContender[],
  workload: Workload,
  facts: Facts,
  options: RunOptions,
): Promise<Result> {
  const { rounds, seconds, postmaster, counter } = options;
  const able = all.filter((running) => has(running, workload, facts));
  const samples = new Map<RunningContender, Sample[]>(able.map((running) => [running, []]));
  const statements = new Map<RunningContender, number>();
  let turn = 0;
  for (const running of able) {
    turn += 1;
    await measure(running, workload, facts, {
      seconds: Math.max(2, seconds / 2),
      seed: 1_000,
      turn,
      postmaster: undefined,
      isWarmUp: true,
    });
    if (counter) statements.set(running, await counter.count(running, workload, facts, turn));
  }
  for (let round = 0; round < rounds; round += 1) {
    const first = round % able.length;
    for (const running of [...able.slice(first), ...able.slice(0, first)]) {
      turn += 1;
      samples
        .get(running)
        ?.push(await measure(running, workload, facts, { seconds, seed: round, turn, postmaster }));
      // Remaining work of this turn (commits, vacuum, garbage collection) must not burden the next one.
      await delay(50);
    }
  }
  const series = able.map((running) => ({
    contender: running.contender.name,
    samples: samples.get(running) ?? [],
    statements: statements.get(running),
  }));
  return { workload, series };
}

/** Whether a contender has a workload; for a mixed one, whether it has all its parts. */
export function has({ contender }: RunningContender, { id, input, mix }: Workload, facts: Facts): boolean {
  const parts = mix ? Object.keys(mix).map(workloadOf) : [{ id, input }];
  return parts.every(
    (part) => contender.request(part.id, part.input(new Random(1), facts, new Random(1))) !== undefined,
  );
}

/** Compares the answers of a workload before it is measured; for a mixed one, those of each part. */
export async function check(
  all: readonly RunningContender[],
  workloads: readonly Workload[],
  facts: Facts,
  say: (line: string) => void,
) {
  const parts = new Set(workloads.flatMap(({ id, mix }) => (mix ? Object.keys(mix) : [id])));
  for (const id of parts) {
    const workload = workloadOf(id);
    const able = all.filter((running) => has(running, workload, facts));
    const checked = await checkEqual(able, workload, facts);
    say(
      `  ${id.padEnd(11)} ${checked.map(({ contender, bytes }) => `${contender} ${Math.round(bytes)} B`).join(', ')}`,
    );
  }
}

export async function prepare({ contender, port }: RunningContender, facts: Facts): Promise<void> {
  if (!contender.prepare) return;
  const connection = await Connection.open(port);
  try {
    await contender.prepare(async (request) => {
      const answer = await connection.send(request);
      refuseFailure(request, answer);
      return JSON.parse(answer.body.toString());
    }, facts);
  } finally {
    connection.close();
  }
}

/** Measures the time from the start of a process to its first answer several times, in milliseconds. */
export async function coldStarts(
  running: RunningContender,
  databaseUrl: string,
  times = 3,
): Promise<number[]> {
  const started: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const again = await start(running.contender, databaseUrl);
    started.push(again.startedMs);
    await again.stop();
  }
  return started;
}
