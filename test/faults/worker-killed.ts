import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { ms, quantile, runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { checkWrites, serverOnPostgres } from './support/scene.ts';
import { untilWorkers, workersOf } from './support/workers.ts';
import { Writers } from './support/writers.ts';

/** The service ends if five workers die within a minute, so they are killed at longer intervals. */
const pauseMs = 20_000;

// One of two workers is killed during a write: the other one continues, and the supervisor starts a new one.
await runFault(import.meta.filename, {
  fault: '`kill -9` of one of two workers in mid-write, 16 writers',
  pass: '0 acknowledged writes lost, 0 doubled; new connections are accepted all the time; a worker in its place ≤ 5 s',
  amount: { unit: 'rounds', short: 2, long: 20 },
  run: async (trial) => {
    const { service, location, world } = await serverOnPostgres(trial, { WORKERS: '2' });
    const ledger = new Ledger();
    await untilWorkers(service, 2);
    const writers = new Writers({ url: service.url, world, ledger });
    const returns: number[] = [];
    let refused = 0;
    for (let round = 0; round < trial.amount; round++) {
      await writers.acknowledgement();
      const old = workersOf(service.pid);
      const killed = old[round % old.length] ?? 0;
      const began = performance.now();
      process.kill(killed, 'SIGKILL');
      const isReplaced = () => {
        const now = workersOf(service.pid);
        return now.length === old.length && !now.includes(killed);
      };
      while (!isReplaced() || performance.now() - began < 1_000) refused += await refusedOf(service.url);
      returns.push(performance.now() - began);
      if (!trial.isShort) await delay(Math.max(pauseMs - (performance.now() - began), 0));
    }
    await writers.stop();
    trial.must(refused === 0, `${refused} new connections were refused`);
    trial.must((await service.end()) === 0, `the server did not end with 0: ${service.logTail()}`);
    const { words } = await checkWrites(trial, location, writers);
    const longest = Math.max(...returns);
    trial.figure(longest <= 5_000, `another worker took ${ms(longest)}`);
    return `${words}; ${refused} new connections refused; another worker after p50 ${ms(quantile(returns, 0.5))}, at most ${ms(longest)}`;
  },
});

/** Whether a new connection is refused: 0 or 1. The kernel may have assigned it to the worker that has just died. */
async function refusedOf(url: string): Promise<number> {
  const client = new Client(url);
  const answer = await client.send({ path: '/health' }).catch((error: NodeJS.ErrnoException) => error);
  client.close();
  return 'status' in answer || answer.code !== 'ECONNREFUSED' ? 0 : 1;
}
