import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type ClientRequest, Client } from './support/client.ts';
import { ms, runFault } from './support/fault.ts';
import { latenciesBetween } from './support/histogram.ts';
import { Ledger } from './support/ledger.ts';
import { checkWrites, serverOnPostgres } from './support/scene.ts';
import { Writers } from './support/writers.ts';

const hangsAfterMs = 40_000;

// All processes of PostgreSQL are stopped by SIGSTOP: connections stay open, and nothing answers.
await runFault(import.meta.filename, {
  fault: 'PostgreSQL frozen (SIGSTOP)',
  pass: 'every request answered ≤ 6 s with 503 + Retry-After; `/readyz` 503 in ≤ 2.2 s naming 2000 ms; `/health` p99 ≤ 50 ms; normal ≤ 2 s after',
  amount: { unit: 's', short: 10, long: 30 },
  run: async (trial) => {
    const { cluster, location, world, service } = await serverOnPostgres(trial);
    const ledger = new Ledger();
    const writers = new Writers({ url: service.url, world, ledger, count: 8 });
    await writers.acknowledgement();
    await delay(500);

    cluster.freeze();
    const counts = await service.counts();
    const until = performance.now() + trial.amount * 1_000;
    const token = world.token;
    const [reads, ready, health] = await Promise.all([
      Promise.all(
        Array.from({ length: 8 }, () =>
          sendRepeatedly(service.url, token, { path: '/v1/issues?page_size=5' }, until, 100),
        ),
      ),
      sendRepeatedly(service.url, undefined, { path: '/readyz' }, until, 500),
      sendRepeatedly(service.url, undefined, { path: '/health' }, until, 50),
    ]);
    cluster.thaw();
    const thawed = performance.now();
    const client = new Client(service.url, token);
    let status = 0;
    while (status !== 200 && performance.now() - thawed < 60_000) {
      const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
      status = answer?.status ?? 0;
      if (status !== 200) await delay(50);
    }
    await writers.acknowledgement();
    const normalMs = performance.now() - thawed;
    client.close();
    await writers.stop();
    const { words: found } = await checkWrites(trial, location, writers);

    const all = reads.flat();
    const answers = all.filter((answer) => answer !== undefined);
    const hung = all.length - answers.length + writers.hung;
    const longest = Math.max(...answers.map(({ ms }) => ms), ...writers.refusals.map(({ ms }) => ms));
    const unexpected = answers.filter(({ status, headers }) => status !== 503 || !headers['retry-after']);
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    trial.must(hung === 0, `${hung} requests were not answered at all`);
    trial.must(
      unexpected.length === 0,
      `${unexpected.length} answers are not 503 with Retry-After: ${unexpected[0]?.status} ${unexpected[0]?.body}`,
    );
    trial.must(longest <= 12_000, `a request took ${ms(longest)}`);
    trial.figure(longest <= 6_000, `a request took ${ms(longest)}, of 6000 ms`);
    const notReady = ready.filter((answer) => answer?.status === 503 && answer.body.includes('2000 ms'));
    trial.must(
      notReady.length === ready.length,
      `/readyz is not 503 naming 2000 ms: ${ready[0]?.status} ${ready[0]?.body}`,
    );
    const readyMs = Math.max(...ready.map((answer) => answer?.ms ?? hangsAfterMs));
    trial.must(readyMs <= 6_000, `/readyz took ${ms(readyMs)}`);
    trial.figure(readyMs <= 2_200, `/readyz took ${ms(readyMs)}, of 2200 ms`);
    const healthMs = latenciesBetween(counts, await service.counts(), { route: '/health' }).quantile(0.99);
    trial.must(
      health.every((answer) => answer?.status === 200),
      '/health failed',
    );
    trial.figure(healthMs <= 50, `/health p99 is ${ms(healthMs)}, of 50 ms`);
    trial.must(normalMs <= 15_000, `normal after ${ms(normalMs)}`);
    trial.figure(normalMs <= 2_000, `normal after ${ms(normalMs)}, of 2000 ms`);
    return (
      `${all.length + writers.refusals.length} requests refused, ${hung} hung, the longest ${ms(longest)}; /readyz at most ${ms(readyMs)}; ` +
      `/health p99 ${ms(healthMs)}; reads and writes again after ${ms(normalMs)}; ${found}`
    );
  },
});

/** Sends a request again and again until then; the answer is undefined if there was none. */
async function sendRepeatedly(
  url: string,
  token: string | undefined,
  request: ClientRequest,
  until: number,
  everyMs: number,
): Promise<(Answer | undefined)[]> {
  const client = new Client(url, token);
  const answers: (Answer | undefined)[] = [];
  while (performance.now() < until) {
    answers.push(await client.send({ ...request, withinMs: hangsAfterMs }).catch(() => undefined));
    await delay(everyMs);
  }
  client.close();
  return answers;
}
