import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { ms, runFault } from './support/fault.ts';
import { latenciesBetween } from './support/histogram.ts';
import { Load } from './support/load.ts';
import { onPostgres, startService } from './support/scene.ts';
import { addWorkspace, withDatabase } from './support/world.ts';

/** Low enough that one core can send a hundred times the quota. */
const requestsPerMinute = 600;
const factor = 100;
const perSecond = (requestsPerMinute / 60) * factor;
/** The interval between the requests of each of the others, which stay within their quota. */
const othersEveryMs = 120;
const others = 4;

// One token sends a hundred times its quota while other tokens stay within theirs.
await runFault(import.meta.filename, {
  fault: 'one token at 100× its quota',
  pass: "others' p99 ≤ 1.3×, 0 errors",
  amount: { unit: 's', short: 8, long: 60 },
  run: async (trial) => {
    const { cluster, location, world: greedy } = await onPostgres(trial);
    const worlds = await withDatabase(location, async (database) => {
      const added = [];
      for (let index = 0; index < others; index++) added.push(await addWorkspace(database));
      return added;
    });
    const env = { REQUESTS_PER_MINUTE: String(requestsPerMinute) };
    const service = await startService(trial, { databaseUrl: cluster.url, env });
    const measure = async (forMs: number) => {
      const errors: number[] = [];
      const counts = await service.counts();
      const until = performance.now() + forMs;
      const readRepeatedly = async (token: string) => {
        const client = new Client(service.url, token);
        while (performance.now() < until) {
          const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
          if (answer?.status !== 200) errors.push(answer?.status ?? 0);
          await delay(othersEveryMs);
        }
        client.close();
      };
      await Promise.all(worlds.map(({ token }) => readRepeatedly(token)));
      const took = latenciesBetween(counts, await service.counts(), { operation: 'Issues', status: '200' });
      return { took, errors };
    };
    await measure(2_000);
    const normal = await measure((trial.amount / 2) * 1_000);

    // Another route than that of the others, so that the histogram can distinguish them.
    const greedyRequest = { path: '/v1/teams?page_size=5' };
    // Uses up the full quota of the idle caller first.
    const client = new Client(service.url, greedy.token, 8);
    const exhaust = async () => {
      while ((await client.send(greedyRequest)).status !== 429);
      while ((await client.send(greedyRequest)).status !== 429);
    };
    await Promise.all(Array.from({ length: 8 }, exhaust));
    client.close();
    const load = new Load(service.url, greedy.token, greedyRequest);
    const [beside] = await Promise.all([
      measure(trial.amount * 1_000),
      load.run(perSecond, trial.amount * 1_000),
    ]);
    await load.end();
    const { sent, statuses } = load;
    const [before, after] = [normal.took.quantile(0.99), beside.took.quantile(0.99)];
    const errors = normal.errors.length + beside.errors.length;
    trial.must(
      errors === 0,
      `${errors} requests of others failed, ${[...normal.errors, ...beside.errors][0]}`,
    );
    trial.must((statuses.get(429) ?? 0) > 0, 'the greedy token was never refused');
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    trial.figure(after <= 1.3 * before, `others' p99 went from ${ms(before)} to ${ms(after)}`);
    return (
      `others' p99 ${ms(before)} alone, ${ms(after)} beside it (${(after / before).toFixed(2)}×), p50 ${ms(normal.took.quantile(0.5))} and ${ms(beside.took.quantile(0.5))}, ` +
      `${errors} errors; of ${sent} requests of the greedy one ${statuses.get(200) ?? 0} × 200, ${statuses.get(429) ?? 0} × 429`
    );
  },
});
