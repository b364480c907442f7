import { setTimeout as delay } from 'node:timers/promises';
import { ms, quantile, runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { checkWrites, serverOnPostgres } from './support/scene.ts';
import { Writers } from './support/writers.ts';
import { chance } from './support/chance.ts';

// PostgreSQL is killed while sixteen clients write: the whole server, or one backend, after which it ends the others and recovers.
await runFault(import.meta.filename, {
  fault: '`kill -9` of PostgreSQL, all of it and one process of it in turn, 16 writers',
  pass: 'the server never exits; only 503; 0 lost; answers again ≤ 5 s after',
  amount: { unit: 'rounds', short: 4, long: 50 },
  run: async (trial) => {
    const { cluster, location, world, service } = await serverOnPostgres(trial);
    const ledger = new Ledger();
    const { pid } = service;
    const writers = new Writers({ url: service.url, world, ledger });
    await writers.acknowledgement();
    const returns: number[] = [];
    for (let round = 0; round < trial.amount; round++) {
      await delay(100 + chance.fraction() * 400);
      if (round % 2 === 0) {
        await cluster.kill();
        await delay(200);
        await cluster.start();
      } else {
        cluster.killBackend();
        await delay(50);
        while (!(await cluster.answers())) await delay(10);
      }
      const began = performance.now();
      await writers.acknowledgement();
      returns.push(performance.now() - began);
    }
    await writers.stop();
    trial.must(service.isRunning && service.pid === pid, `the server ended: ${service.logTail()}`);
    const { words: found } = await checkWrites(trial, location, writers);
    // 409 means that an earlier attempt is still in progress; it ends with its connection.
    const statuses = new Map<number, number>();
    for (const { status } of writers.refusals) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    trial.must(!statuses.has(0), `${statuses.get(0)} requests were not answered at all`);
    const longest = Math.max(...returns);
    trial.must(longest <= 30_000, `answers came back after ${ms(longest)}`);
    trial.figure(longest <= 5_000, `answers came back after ${ms(longest)}, of 5000 ms`);
    const refused = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    return (
      `${found}; refused ${refused || 'none'}; ` +
      `0 exits; answers again after p50 ${ms(quantile(returns, 0.5))}, at most ${ms(longest)}`
    );
  },
});
