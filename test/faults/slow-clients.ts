import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { ms, quantile, runFault } from './support/fault.ts';
import { latenciesBetween } from './support/histogram.ts';
import { serverOnPostgres } from './support/scene.ts';
import type { Service } from './support/service.ts';

const measuredForMs = 5_000;
/** Longer than the longest timeout of the server for such a client. */
const watchedForMs = 40_000;

// Half of the connections send the headers of a request one byte at a time, the other half its body, and never finish.
await runFault(import.meta.filename, {
  fault: 'slow headers and bodies',
  pass: "others' p99 ≤ 2×; cut ≤ 15 s",
  amount: { unit: 'connections', short: 200, long: 2_000 },
  run: async (trial) => {
    const { world, service } = await serverOnPostgres(trial);
    const others = (forMs: number) => reading(service, world.token, forMs);
    await others(measuredForMs);
    const normal = await others(measuredForMs);

    const { hostname, port } = new URL(service.url);
    const head = `POST /v1/issues HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${world.token}\r\n`;
    const bodyHead = `${head}Content-Type: application/json\r\nContent-Length: 500000\r\n\r\n{"title":"`;
    const lives: number[] = [];
    const open = new Set<Socket>();
    for (let index = 0; index < trial.amount; index++) {
      const socket = connect({ host: hostname, port: Number(port) });
      const began = performance.now();
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        lives.push(performance.now() - began);
      });
      socket.resume();
      socket.write(index % 2 === 0 ? `${head}X-Slow: ` : bodyHead);
      if (index % 50 === 0) await delay(5);
    }
    const dripping = setInterval(() => {
      for (const socket of open) socket.write('a');
    }, 1_000);
    const slowed = await others(measuredForMs);
    const until = performance.now() + watchedForMs;
    while (open.size > 0 && performance.now() < until) await delay(100);
    clearInterval(dripping);
    const left = open.size;
    for (const socket of open) socket.destroy();

    const longest = Math.max(0, ...lives);
    const [before, after] = [normal.p99Ms, slowed.p99Ms];
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    trial.must(slowed.failed === 0, `${slowed.failed} requests of others failed`);
    trial.must(left === 0, `${left} of ${trial.amount} connections are still open after ${ms(watchedForMs)}`);
    trial.must(longest <= 25_000, `a connection was cut after ${ms(longest)}`);
    trial.figure(longest <= 15_000, `a connection was cut after ${ms(longest)}, of 15000 ms`);
    trial.figure(after <= 2 * before, `others' p99 went from ${ms(before)} to ${ms(after)}`);
    return (
      `others' p99 ${ms(before)} before, ${ms(after)} meanwhile (${(after / before).toFixed(2)}×), ${slowed.failed} failed; ` +
      `${lives.length} connections cut after p50 ${ms(quantile(lives, 0.5))}, at most ${ms(longest)}`
    );
  },
});

/** Runs four clients that read at intervals, and returns the latencies of the server's histogram. */
async function reading(service: Service, token: string, forMs: number) {
  let failed = 0;
  const before = await service.counts();
  const until = performance.now() + forMs;
  const one = async () => {
    const client = new Client(service.url, token);
    while (performance.now() < until) {
      const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
      if (answer?.status !== 200) failed++;
      await delay(20);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: 4 }, one));
  const took = latenciesBetween(before, await service.counts(), { operation: 'Issues', status: '200' });
  return { p99Ms: took.quantile(0.99), failed };
}
