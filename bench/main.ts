import { type Cluster, openCluster, stopKeptCluster } from './cluster.ts';
import { contenders } from './contenders/all.ts';
import { fill, postgresVersion } from './dataset/fill.ts';
import { readFacts } from './facts.ts';
import { type Options, readOptions, type ShapesOptions } from './options.ts';
import { applyNiceness } from './priority.ts';
import { type RunningContender, start } from './process.ts';
import { line } from './report/numbers.ts';
import { before, repository } from './repository.ts';
import { writeReport } from './report/report.ts';
import { check, coldStarts, prepare, type Result, run } from './run.ts';
import { StatementCounter } from './statements.ts';
import { workloadOf } from './workloads/all.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

const options = readOptions();
if (options?.stop) say(stopKeptCluster() ? 'stopped' : 'nothing was running');
else if (options?.shapes) await shapes(options, options.shapes);
else if (options?.wal) await wal(options);
else if (options?.capacity) await capacity(options);
else if (options?.engineSizes) {
  const { compareEngines } = await import('./engines.ts');
  await compareEngines({ ...options, sizes: options.engineSizes, say });
} else if (options) await bench(options);

async function shapes({ issues, keep, fresh }: Options, chosen: ShapesOptions): Promise<void> {
  const cluster = await openCluster({ fresh, database: `shapes_${issues}` });
  try {
    await fill({ url: cluster.url, checkout: repository }, { issues, isSkewed: true }, say);
    const { checkShapes } = await import('./shapes/shapes.ts');
    const broken = await checkShapes({ ...chosen, url: cluster.url, issues, say });
    if (broken > 0) process.exitCode = 1;
  } finally {
    if (!keep) cluster.stop();
  }
}

async function capacity({ keep }: Options): Promise<void> {
  const cluster = await openCluster({ fresh: false, database: 'bench_capacity' });
  try {
    const { measureWorkspaces } = await import('./capacity/workspaces.ts');
    const { printCapacity } = await import('./capacity/table.ts');
    printCapacity(await measureWorkspaces(cluster.url, say), say);
  } finally {
    if (!keep) cluster.stop();
  }
}

async function wal(chosen: Options): Promise<void> {
  const cluster = await openCluster({ fresh: chosen.fresh });
  try {
    const urlOf = await fillAll(cluster, chosen);
    const { measureLog } = await import('./wal.ts');
    await measureLog(urlOf, say);
  } finally {
    if (!chosen.keep) cluster.stop();
  }
}

/**
 * Fills the database of all contenders, and one of its own for an earlier checkout, whose schema may be another. Returns the URL of
 * the database of a contender.
 */
async function fillAll(
  cluster: Cluster,
  { issues, contenders: names }: Options,
): Promise<(contender: string) => string> {
  await fill({ url: cluster.url, checkout: repository }, { issues, isSkewed: false }, say);
  if (!before || !names.includes('before')) return () => cluster.url;
  if (process.env['BENCH_DATABASE_URL'])
    throw new Error('BENCH_BEFORE takes a second database: leave BENCH_DATABASE_URL out.');
  const earlier = await openCluster({ fresh: false, database: 'bench_before' });
  await fill({ url: earlier.url, checkout: before }, { issues, isSkewed: false }, say);
  return (contender) => (contender === 'before' ? earlier.url : cluster.url);
}

async function bench(chosen: Options): Promise<void> {
  const { keep, fresh } = chosen;
  applyNiceness(process.pid);
  const cluster = await openCluster({ fresh });
  if (cluster.pid !== undefined) applyNiceness(cluster.pid);
  const running: RunningContender[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void Promise.all(running.map((one) => one.stop())).then(() => {
        if (!keep) cluster.stop();
        process.exit(1);
      });
    });
  }
  try {
    const urlOf = await fillAll(cluster, chosen);
    for (const contender of contenders.filter(({ name }) => chosen.contenders.includes(name))) {
      say(`starting ${contender.title} …`);
      running.push(await start(contender, urlOf(contender.name)));
    }
    await compare(running, chosen, cluster, urlOf);
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    if (!keep) cluster.stop();
  }
}

async function compare(
  running: readonly RunningContender[],
  chosen: Options,
  { url, pid: postmaster }: Cluster,
  urlOf: (contender: string) => string,
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
  if (chosen.write)
    for (const one of running)
      starts.set(one.contender.name, await coldStarts(one, urlOf(one.contender.name)));
  for (const [name, times] of starts) say(`cold start of ${name}: ${times.map(Math.round).join(', ')} ms`);
  if (chosen.write)
    writeReport({ results, starts, facts, rounds, seconds, postgres: await postgresVersion(url), say });
}
