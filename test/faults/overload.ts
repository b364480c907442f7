import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { Cluster } from './support/cluster.ts';
import { ms, quantile, runFault } from './support/fault.ts';
import { latenciesBetween } from './support/histogram.ts';
import { residentMb } from './support/memory.ts';
import { Service } from './support/service.ts';
import { makeWorld, type World } from './support/world.ts';

/** The dashboard of docs/queries: so heavy that one core can ask for ten times as much as the service can answer. */
const query = readFileSync(join(import.meta.dirname, '../../docs/queries/dashboard.graphql'), 'utf8');
const operation = 'Dashboard';
const ask = { method: 'POST', path: '/graphql', body: { query } };
const peakConnections = 16;
const factor = 10;
/** More would only be a queue in the load maker. */
const mostUnderWay = 2_000;
const hangsAfterMs = 15_000;

// First as much as it can answer, by sixteen who each wait for their answer; then ten times as many requests a second,
// whether they are answered or not.
await runFault(import.meta.filename, {
  fault: '10× overload',
  pass: 'goodput ≥ 90 % of peak, p99 of accepted ≤ 2× normal, the rest 429/503 ≤ 50 ms, memory bounded, normal ≤ 5 s after',
  amount: { unit: 's', short: 8, long: 180 },
  run: async (trial) => {
    const cluster = await Cluster.create(trial.folder);
    trial.defer(() => cluster.stop());
    const world = await makeWorld({ url: cluster.url });
    const service = await Service.prepare({ folder: trial.folder, databaseUrl: cluster.url });
    trial.defer(() => service.end('SIGKILL'));
    await service.start();
    await fill(service, world);
    await peak(service, world, 3_000);
    const normal = await peak(service, world, trial.isShort ? 5_000 : 20_000);
    const beforeMb = residentMb(service.pid);

    const counts = await service.counts();
    const began = performance.now();
    const until = began + trial.amount * 1_000;
    const client = new Client(service.url, world.token, mostUnderWay);
    const told = new Map<number, number>();
    let [sent, underWay, notSent, mostMb] = [0, 0, 0, beforeMb];
    for (let due = 0; performance.now() < until; ) {
      due = ((performance.now() - began) / 1_000) * normal.perSecond * factor;
      for (; sent + notSent < due; ) {
        if (underWay >= mostUnderWay) {
          notSent++;
          continue;
        }
        sent++;
        underWay++;
        void client
          .ask({ ...ask, withinMs: hangsAfterMs })
          .then(({ status }) => status)
          .catch(() => 0)
          .then((status) => {
            underWay--;
            told.set(status, (told.get(status) ?? 0) + 1);
          });
      }
      mostMb = Math.max(mostMb, residentMb(service.pid));
      await delay(5);
    }
    const seconds = (performance.now() - began) / 1_000;
    const after = await service.counts();
    client.close();
    const ended = performance.now();
    const calm = new Client(service.url, world.token);
    let normalAfterMs = Number.POSITIVE_INFINITY;
    while (performance.now() - ended < 30_000) {
      const answer = await calm.ask(ask).catch(() => undefined);
      if (answer?.status === 200 && answer.ms <= 2 * normal.p99Ms) {
        normalAfterMs = performance.now() - ended;
        break;
      }
      await delay(20);
    }
    calm.close();

    const of = (status: string) => latenciesBetween(counts, after, { operation, status });
    const accepted = of('200');
    // What is refused before it is read has no operation yet.
    const refused = ['503', '429'].map((status) =>
      latenciesBetween(counts, after, { route: '/graphql', status }),
    );
    const refusedMs = Math.max(...refused.map((took) => (took.count > 0 ? took.quantile(0.99) : 0)));
    const goodput = accepted.count / seconds;
    const share = goodput / normal.perSecond;
    const [acceptedMs, times] = [accepted.quantile(0.99), accepted.quantile(0.99) / normal.p99Ms];
    const others = [...told].filter(([status]) => ![200, 429, 503].includes(status));
    trial.must(service.isRunning, `the server ended: ${service.words()}`);
    trial.must(
      others.every(([status]) => status === 0),
      `answers that are neither: ${JSON.stringify(others)}`,
    );
    trial.must(normalAfterMs <= 30_000, `normal after ${ms(normalAfterMs)}`);
    trial.must(mostMb <= beforeMb + 500, `memory went from ${beforeMb} MB to ${mostMb} MB`);
    trial.figure(share >= 0.9, `goodput is ${(100 * share).toFixed(0)} % of the peak`);
    trial.figure(times <= 2, `p99 of what was accepted is ${ms(acceptedMs)}, ${times.toFixed(1)}× normal`);
    trial.figure(refusedMs <= 50, `refusals took p99 ${ms(refusedMs)}`);
    trial.figure(
      (told.get(0) ?? 0) === 0,
      `${told.get(0)} requests were not answered within ${ms(hangsAfterMs)}`,
    );
    trial.figure(normalAfterMs <= 5_000, `normal after ${ms(normalAfterMs)}`);
    return (
      `peak ${normal.perSecond.toFixed(0)}/s at p99 ${ms(normal.p99Ms)}; offered ${((sent + notSent) / seconds).toFixed(0)}/s, ` +
      `sent ${(sent / seconds).toFixed(0)}/s, goodput ${goodput.toFixed(0)}/s (${(100 * share).toFixed(0)} %), p99 of accepted ${ms(acceptedMs)} (${times.toFixed(1)}×), ` +
      `${told.get(503) ?? 0} × 503 and ${told.get(429) ?? 0} × 429 with p99 ${ms(refusedMs)}, ${told.get(0) ?? 0} not answered; ` +
      `memory ${beforeMb} → ${mostMb} MB; normal after ${ms(normalAfterMs)}`
    );
  },
});

async function fill(service: Service, { token, teamId }: World): Promise<void> {
  const client = new Client(service.url, token, 8);
  const issues = Array.from({ length: 100 }, (_, index) => ({
    teamId,
    title: `Issue ${index}`,
    priority: 1,
  }));
  const made = issues.map((issue) =>
    client.ask({ method: 'POST', path: '/v1/issues', body: { ...issue, description: 'There.' } }),
  );
  for (const { status, body } of await Promise.all(made)) if (status !== 201) throw new Error(body);
  client.close();
}

/** As much as it answers to those who wait for each answer, and how long that takes by its own histogram. */
async function peak(service: Service, { token }: World, forMs: number) {
  const before = await service.counts();
  const began = performance.now();
  const latencies: number[] = [];
  const one = async () => {
    const client = new Client(service.url, token);
    while (performance.now() - began < forMs) {
      const answer = await client.ask(ask);
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
      latencies.push(answer.ms);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: peakConnections }, one));
  const seconds = (performance.now() - began) / 1_000;
  const took = latenciesBetween(before, await service.counts(), { operation, status: '200' });
  return { perSecond: latencies.length / seconds, p99Ms: took.quantile(0.99) || quantile(latencies, 0.99) };
}
