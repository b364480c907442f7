import { openCluster, stopKeptCluster } from './cluster.ts';
import { contenders } from './contenders/all.ts';
import { fill, migrate, postgresVersion } from './dataset/fill.ts';
import { readFacts } from './facts.ts';
import { type Options, readOptions, type ShapesOptions } from './options.ts';
import { prefer } from './priority.ts';
import { type Running, start } from './process.ts';
import { line } from './report/numbers.ts';
import { repository } from './repository.ts';
import { writeReport } from './report/report.ts';
import { check, coldStarts, prepare, type Result, run } from './run.ts';
import { StatementCounter } from './statements.ts';
import { workloadOf } from './workloads/all.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

const options = readOptions();
if (options?.stop) say(stopKeptCluster() ? 'stopped' : 'nothing was running');
else if (options?.shapes) await shapes(options, options.shapes);
else if (options) await bench(options);

async function shapes({ issues, keep, fresh }: Options, chosen: ShapesOptions): Promise<void> {
  const cluster = await openCluster({ fresh, database: `shapes_${issues}` });
  try {
    await fill(cluster.url, { issues, isSkewed: true }, say);
    const { checkShapes } = await import('./shapes/shapes.ts');
    const broken = await checkShapes({ ...chosen, url: cluster.url, issues, say });
    if (broken > 0) process.exitCode = 1;
  } finally {
    if (!keep) cluster.stop();
  }
}

async function bench(chosen: Options): Promise<void> {
  const { issues, keep, fresh } = chosen;
  prefer(process.pid);
  const cluster = await openCluster({ fresh });
  if (cluster.pid !== undefined) prefer(cluster.pid);
  const running: Running[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void Promise.all(running.map((one) => one.stop())).then(() => {
        if (!keep) cluster.stop();
        process.exit(1);
      });
    });
  }
  try {
    await fill(cluster.url, { issues, isSkewed: false }, say);
    for (const contender of contenders.filter(({ name }) => chosen.contenders.includes(name))) {
      say(`starting ${contender.title} …`);
      if (contender.name === 'product') migrate(cluster.url, repository);
      running.push(await start(contender, cluster.url));
    }
    await compare(running, chosen, cluster);
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    if (!keep) cluster.stop();
  }
}

async function compare(
  running: readonly Running[],
  chosen: Options,
  { url, pid: postmaster }: { url: string; pid: number | undefined },
): Promise<void> {
  const facts = await readFacts(url);
  const workloads = chosen.only.map(workloadOf);
  if (workloads.some(({ id }) => id === 'W8')) for (const one of running) await prepare(one, facts);
  say('comparing answers …');
  await check(running, workloads, facts, say);
  if (chosen.check) return;
  const counter = await StatementCounter.open(url);
  const results: Result[] = [];
  const { rounds, seconds } = chosen;
  say(`measuring: ${rounds} rounds of ${seconds} s for each …`);
  for (const workload of workloads) {
    const result = await run(running, workload, facts, { rounds, seconds, postmaster, counter });
    results.push(result);
    say(`${workload.id}  ${workload.title}`);
    for (const series of result.series) say(line(result, series));
  }
  await counter?.close();
  const starts = new Map<string, number[]>();
  if (chosen.write) for (const one of running) starts.set(one.contender.name, await coldStarts(one, url));
  for (const [name, times] of starts) say(`cold start of ${name}: ${times.map(Math.round).join(', ')} ms`);
  if (chosen.write)
    writeReport({ results, starts, facts, rounds, seconds, postgres: await postgresVersion(url), say });
}
