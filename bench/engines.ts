import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import pg from 'pg';
import { clusterFolder, openCluster } from './cluster.ts';
import { embeddedBefore, embeddedProduct, product } from './contenders/product.ts';
import { fill, fillWith, version } from './dataset/fill.ts';
import { readFacts } from './facts.ts';
import { type RunningContender, start } from './process.ts';
import { line } from './report/numbers.ts';
import { before, repository } from './repository.ts';
import { check, run } from './run.ts';
import { workloadOf } from './workloads/all.ts';

/** What is compared: the dashboard, a list, an issue, and three writes. */
const compared = ['W1', 'W2', 'W3', 'W4', 'W5', 'W7'];

export interface EnginesRun {
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly keep: boolean;
  readonly say: (line: string) => void;
}

/**
 * Measures the product on the embedded engine and on PostgreSQL, with the same data of each size; or two checkouts of it on the
 * embedded engine, if `BENCH_BEFORE` names another one.
 */
export async function compareEngines({ sizes, rounds, seconds, keep, say }: EnginesRun): Promise<void> {
  for (const issues of sizes) {
    say(`${issues} issues`);
    const cluster = await openCluster({ fresh: false, database: `engine_${issues}` });
    const running: RunningContender[] = [];
    try {
      await fill({ url: cluster.url, checkout: repository }, { issues, isSkewed: false }, say);
      const directory = await embeddedDirectory('embedded', repository, issues, say);
      const facts = await readFacts(cluster.url);
      const other =
        before && embeddedBefore(await embeddedDirectory('embedded_before', before, issues, say), before);
      running.push(other ? await start(other, '') : await start(product, cluster.url));
      running.push(await start(embeddedProduct(directory), ''));
      const workloads = compared.map(workloadOf);
      await check(running, workloads, facts, say);
      for (const workload of workloads) {
        const result = await run(running, workload, facts, {
          rounds,
          seconds,
          postmaster: cluster.pid,
          counter: undefined,
        });
        say(`${workload.id}  ${workload.title}`);
        for (const series of result.series) say(line(result, series));
      }
    } finally {
      await Promise.all(running.map((one) => one.stop()));
      if (!keep) cluster.stop();
    }
  }
}

/** A data directory with a filled embedded database, made again unless an earlier run has made it. */
async function embeddedDirectory(
  name: string,
  checkout: string,
  issues: number,
  say: (line: string) => void,
): Promise<string> {
  const directory = join(clusterFolder, `${name}_${issues}`);
  const mark = join(directory, `filled-${version}`);
  if (existsSync(mark)) return directory;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  say(`filling the embedded engine with ${issues} issues …`);
  execFileSync(process.execPath, [join(checkout, 'bin', 'workgraph.js'), 'migrate'], {
    env: { ...process.env, DATA_DIR: directory },
    stdio: 'pipe',
  });
  const pglite = await PGlite.create(join(directory, 'database'), { extensions: { btree_gin, pg_trgm } });
  const client = new pg.Client(createPgConfig(pglite));
  await client.connect();
  await fillWith(client, { issues, isSkewed: false });
  await client.end();
  await pglite.close();
  writeFileSync(mark, '');
  return directory;
}
