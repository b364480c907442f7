import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { ms, runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import type { Weather } from './support/proxy.ts';
import { checkWrites, serverBehindProxy } from './support/scene.ts';
import { Writers } from './support/writers.ts';

/** The states of the network between server and PostgreSQL, in order. */
const weathers: Readonly<Record<string, Weather>> = {
  slow: { delayMs: 150 },
  resetting: { resetWithinMs: 300 },
  'half-open': { silent: true },
};
const hangsAfterMs = 6_000;

// A proxy between server and PostgreSQL simulates three kinds of bad network in turn.
await runFault(import.meta.filename, {
  fault: 'slow, resetting, half-open network between server and PostgreSQL',
  pass: '0 hung > 6 s, 0 crashes',
  amount: { unit: 's of each', short: 5, long: 60 },
  run: async (trial) => {
    const { location, world, proxy, service } = await serverBehindProxy(trial);
    const { pid } = service;
    const ledger = new Ledger();
    const summaries: string[] = [];
    const done: Writers[] = [];
    let [reads, hungReads, longestRead] = [0, 0, 0];
    for (const [name, weather] of Object.entries(weathers)) {
      const writers = new Writers({ url: service.url, world, ledger });
      const before = ledger.acknowledged;
      await writers.acknowledgement();
      const until = performance.now() + trial.amount * 1_000;
      proxy.weather = weather;
      // The setting holds for new connections only, so the open ones are reset at once.
      if (weather.resetWithinMs !== undefined) proxy.resetAll();
      const reading = async () => {
        const client = new Client(service.url, world.token);
        while (performance.now() < until) {
          const began = performance.now();
          await client.send({ path: '/v1/issues?page_size=5' }).catch(() => hungReads++);
          reads++;
          longestRead = Math.max(longestRead, performance.now() - began);
          await delay(50);
        }
        client.close();
      };
      await Promise.all(Array.from({ length: 8 }, reading));
      const acknowledged = ledger.acknowledged - before;
      proxy.weather = {};
      proxy.resetAll();
      await writers.stop();
      done.push(writers);
      const refused = writers.refusals.length;
      const longest = Math.max(writers.longestMs, ...writers.refusals.map(({ ms }) => ms));
      summaries.push(
        `${name}: ${acknowledged} writes, ${refused} refused, the longest answer ${ms(longest)}`,
      );
      trial.figure(longest <= hangsAfterMs, `${name}: a write took ${ms(longest)}`);
      trial.must(longest <= 2 * hangsAfterMs, `${name}: a write took ${ms(longest)}`);
      const broken = writers.refusals.filter(({ status }) => status === 0).length;
      trial.must(broken === 0, `${name}: ${broken} writes were not answered`);
    }
    trial.must(hungReads === 0, `${hungReads} reads were not answered`);
    trial.must(longestRead <= 2 * hangsAfterMs, `a read took ${ms(longestRead)}`);
    trial.figure(longestRead <= hangsAfterMs, `a read took ${ms(longestRead)}`);
    trial.must(service.isRunning && service.pid === pid, `the server ended: ${service.logTail()}`);
    const { words: found } = await checkWrites(trial, location, {
      ledger,
      world,
      unexpected: done.flatMap(({ unexpected }) => unexpected),
    });
    return `${summaries.join('; ')}; ${reads} reads, the longest ${ms(longestRead)}; 0 crashes; ${found}`;
  },
});
