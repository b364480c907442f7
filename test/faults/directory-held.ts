import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ms, quantile, runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { freePort } from '../support/ports.ts';
import { checkWrites } from './support/scene.ts';
import { Service } from './support/service.ts';
import { onAllCores } from './support/tools.ts';
import { makeWorld } from './support/world.ts';
import { Writers } from './support/writers.ts';

const script = join(import.meta.dirname, '../../bin/workgraph.js');
/** The number of attempts after which the first server is killed and another one must start. */
const triesOfEach = 10;

// A second server is started on a data directory that is in use, while eight clients write through the first server.
await runFault(import.meta.filename, {
  fault: 'second `serve` on the embedded directory, also after `kill -9` of the first',
  pass: 'refused ≤ 1 s with a plain word while held, free at once after, 0 rows lost',
  amount: { unit: 'tries', short: 4, long: 100 },
  run: async (trial) => {
    const service = await Service.prepare({ folder: trial.folder });
    trial.defer(() => service.end('SIGKILL'));
    const location = { dataDir: service.dataDir };
    const world = await makeWorld(location);
    await service.start();
    const ledger = new Ledger();
    const writers = new Writers({ url: service.url, world, ledger, count: 2 });
    const refusals: number[] = [];
    const returns: number[] = [];
    const kill = async () => {
      await service.end('SIGKILL');
      returns.push(await service.start());
    };
    for (let round = 1; round <= trial.amount; round++) {
      const { exitCode, words, tookMs } = await tryToServe(service.dataDir);
      refusals.push(tookMs);
      const isPlain = /^The data directory \S+ is held by another process \(pid \d+\)\.\n$/.test(words);
      trial.must(exitCode === 1 && isPlain, `try ${round} ended with ${exitCode}: ${words}`);
      if (round % triesOfEach === 0) await kill();
    }
    if (returns.length === 0) await kill();
    await writers.acknowledgement();
    await writers.stop();
    trial.must((await service.end()) === 0, `the last server did not end with 0: ${service.logTail()}`);
    const { words: found } = await checkWrites(trial, location, writers);
    const longest = Math.max(...refusals);
    trial.must(longest <= 15_000, `a try was refused after ${ms(longest)}`);
    trial.figure(
      quantile(refusals, 0.95) <= 1_000,
      `refused after p95 ${ms(quantile(refusals, 0.95))}, of 1000 ms`,
    );
    return (
      `all refused in words, after p50 ${ms(quantile(refusals, 0.5))}, at most ${ms(longest)}; ` +
      `${returns.length} × killed, taken over at the first try each time, ready in at most ${ms(Math.max(...returns))}; ${found}`
    );
  },
});

async function tryToServe(dataDir: string) {
  const began = performance.now();
  const port = String(await freePort());
  const [program, args] = onAllCores(process.execPath, [
    script,
    'serve',
    '--data-dir',
    dataDir,
    '--port',
    port,
  ]);
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const late = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [words, [exitCode]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  clearTimeout(late);
  return { exitCode, words, tookMs: performance.now() - began };
}
