import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ms, quantile, runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { Readers } from './support/readers.ts';
import { readerToken, readsOf } from './support/replica-reads.ts';
import { checkWrites, onPostgres, startService } from './support/scene.ts';
import { Writers } from './support/writers.ts';

// The standby is killed like a machine, or frozen, under readers and writers, and comes back.
await runFault(import.meta.filename, {
  fault: 'replica death: `kill -9` and SIGSTOP of the standby in turn, under 8 readers and 8 writers',
  pass: '0 failed requests; the replica serves again ≤ 5 s after its return',
  amount: { unit: 'rounds', short: 2, long: 20 },
  run: async (trial) => {
    const { cluster, location, world } = await onPostgres(trial);
    const standby = await cluster.standby(join(trial.folder, 'standby'));
    trial.defer(() => standby.stop());
    const env = { READ_DATABASE_URLS: standby.url };
    const service = await startService(trial, { databaseUrl: cluster.url, env });
    const until = async (serves: number) => {
      const began = performance.now();
      while ((await readsOf(service)).serves !== serves) await delay(20);
      return performance.now() - began;
    };
    await until(1);
    const ledger = new Ledger();
    const writers = new Writers({ url: service.url, world, ledger, count: 8 });
    const reading = new Readers(service.url, await readerToken(service.url, world.token), 8);
    const returns: number[] = [];
    for (let round = 0; round < trial.amount; round++) {
      await delay(500);
      if (round % 2 === 0) await standby.kill();
      else standby.freeze();
      await until(0);
      if (round % 2 === 0) await standby.start();
      else standby.thaw();
      returns.push(await until(1));
    }
    await reading.stop();
    await writers.stop();
    const failed = [...writers.refusals, ...reading.refusals];
    const words = failed.slice(0, 5).map(({ status, words }) => `${status} (${words})`);
    trial.must(failed.length === 0, `${failed.length} requests failed: ${words.join(', ')}`);
    const longest = Math.max(...returns);
    trial.figure(longest <= 5_000, `the replica served again after ${ms(longest)}`);
    const { wrong } = await checkWrites(trial, location, writers);
    return (
      `${ledger.acknowledged} writes and ${reading.done} reads, ${failed.length} failed; the replica served again after ` +
      `p50 ${ms(quantile(returns, 0.5))}, at most ${ms(longest)}; ${wrong} lost, doubled or broken`
    );
  },
});
