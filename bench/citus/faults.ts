import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ms, quantile } from '../../test/faults/support/fault.ts';
import { Ledger } from '../../test/faults/support/ledger.ts';
import { Service } from '../../test/faults/support/service.ts';
import { makeWorld, opened } from '../../test/faults/support/world.ts';
import { Writers } from '../../test/faults/support/writers.ts';
import { repository } from '../repository.ts';
import type { Nodes } from './nodes.ts';

/** The faults of `npm run faults` that need nothing but an empty database. */
export const faults = ['server-killed', 'hot-team', 'rolling-restart', 'worker-restarts', 'worker-killed'];

/** How the faults went, and whether all was kept. */
export interface FaultResult {
  readonly name: string;
  readonly words: string;
  readonly isSurvived: boolean;
}

/** Runs one fault in its short form on an empty distributed database. */
export function runFaultOn(name: string, databaseUrl: string): FaultResult {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(repository, 'test/faults/main.ts'), '--short', name],
    {
      env: { ...process.env, FAULTS_DATABASE_URL: databaseUrl },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines = stdout.split('\n').filter((line) => line.startsWith(`${name}: `));
  const words = lines.map((line) => line.slice(name.length + 2)).join('; ');
  return { name, words, isSurvived: status === 0 };
}

/**
 * Crashes each node in turn while sixteen clients write, and starts it again. Each acknowledged write must be there exactly once. A
 * transaction over two nodes that was prepared holds its locks until Citus ends it.
 */
export async function crashNodes(nodes: Nodes, url: string, inFolder: string): Promise<FaultResult> {
  const folder = join(inFolder, 'crashes');
  mkdirSync(folder);
  const place = { url };
  const world = await makeWorld(place);
  const service = await Service.prepare({ folder, databaseUrl: url });
  try {
    await service.start();
    const { pid } = service;
    const writers = new Writers({ url: service.url, world, ledger: new Ledger() });
    const returns: number[] = [];
    for (const index of [...nodes.indexes, ...nodes.indexes]) {
      await writers.acknowledgement();
      await delay(100 + Math.random() * 400);
      nodes.crash(index);
      await delay(200);
      nodes.start(index);
      const began = performance.now();
      await writers.acknowledgement();
      returns.push(performance.now() - began);
    }
    await writers.stop();
    const wrong = await opened(place, (database) => writers.ledger.check(database, world));
    const unexpected = [...new Set(writers.unexpected)];
    const exits = service.isRunning && service.pid === pid ? 0 : 1;
    const failures = [...wrong, ...unexpected].slice(0, 10);
    return {
      name: 'each node crashed twice in mid-write, 16 writers',
      words: [
        `${writers.ledger.acknowledged} writes acknowledged, ${wrong.length} lost, doubled or broken`,
        `${writers.refusals.length} refused; ${exits} exits of the server`,
        `acknowledged again after p50 ${ms(quantile(returns, 0.5))}, at most ${ms(Math.max(...returns))}`,
        ...failures,
      ].join('; '),
      isSurvived: failures.length === 0 && exits === 0,
    };
  } finally {
    await service.end('SIGKILL');
  }
}
