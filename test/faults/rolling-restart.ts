import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { ms, quantile, runFault, type Trial } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { freePort } from './support/ports.ts';
import { Readers } from './support/readers.ts';
import { kept, onPostgres, startService } from './support/scene.ts';
import type { Service } from './support/service.ts';
import { onAllCores } from './support/tools.ts';
import { Writers } from './support/writers.ts';

// Two servers behind haproxy are restarted in turn under load, as an upgrade does it. haproxy retries what never
// reached a server, as it does by default, and nothing else.
await runFault(import.meta.filename, {
  fault: 'SIGTERM under load, two instances behind haproxy, rolling restarts',
  pass: '0 failed requests; `/readyz` 503 first, in-flight work finishes, exit ≤ 10 s',
  amount: { unit: 'restarts', short: 4, long: 50 },
  needs: ['haproxy'],
  run: async (trial) => {
    const { cluster, place, world } = await onPostgres(trial);
    const location = { databaseUrl: cluster.url };
    const services = [await startService(trial, location), await startService(trial, location)];
    const proxy = await startProxy(trial, services);
    const { url } = proxy;
    const ledger = new Ledger();
    const writers = new Writers({ url, world, ledger, count: 8 });
    const reading = new Readers(url, world.token, 8);
    const exits: number[] = [];
    let warned = 0;
    for (let round = 0; round < trial.amount; round++) {
      const service = services[round % 2];
      if (!service) break;
      await delay(300);
      const began = performance.now();
      const exit = service.end('SIGTERM');
      if (await saysNotReady(service)) warned++;
      const code = await exit;
      exits.push(performance.now() - began);
      trial.must(code === 0, `a server ended with ${code}: ${service.words()}`);
      await service.start();
      await proxy.untilUp(round % 2);
    }
    await reading.stop();
    await writers.stop();
    const failed = [...writers.refusals, ...reading.refusals];
    const byWords = Map.groupBy(failed, ({ status, words }) => `${status} (${words})`);
    const statuses = [...byWords].map(([words, { length }]) => `${length} × ${words}`);
    // A machine that is too slow for two servers may tell somebody to come again; nobody may be cut off.
    trial.must(
      failed.every(({ status }) => status === 503),
      `requests were cut off: ${statuses.join(', ')}`,
    );
    trial.figure(failed.length === 0, `requests failed: ${statuses.join(', ')}`);
    trial.must(warned === exits.length, `/readyz said 503 before ${warned} of ${exits.length} exits`);
    const longest = Math.max(...exits);
    trial.must(longest <= 15_000, `an exit took ${ms(longest)}`);
    trial.figure(longest <= 10_000, `an exit took ${ms(longest)}`);
    const { wrong } = await kept(trial, place, writers);
    return (
      `${ledger.acknowledged} writes and ${reading.done} reads, ${failed.length} failed; /readyz 503 first ${warned} times; ` +
      `exit after p50 ${ms(quantile(exits, 0.5))}, at most ${ms(longest)}; ${wrong} lost, doubled or broken`
    );
  },
});

/** Does it say 503 while it still answers. */
async function saysNotReady(service: Service): Promise<boolean> {
  const client = new Client(service.url);
  try {
    while (service.isRunning) {
      const answer = await client.ask({ path: '/readyz', withinMs: 5_000 });
      if (answer.status === 503) return true;
      await delay(10);
    }
    return false;
  } catch {
    return false;
  } finally {
    client.close();
  }
}

/** haproxy before the servers; waits until it takes one for healthy. */
async function startProxy(trial: Trial, services: readonly Service[]) {
  const [port, statsPort] = [await freePort(), await freePort()];
  const file = join(trial.folder, 'haproxy.cfg');
  const servers = services.map(({ url }, index) => `  server s${index} ${url.slice('http://'.length)} check`);
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 2s
  option redispatch
listen stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /stats
frontend service
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /readyz
  default-server inter 100ms fall 2 rise 1
${servers.join('\n')}
`,
  );
  const [program, args] = onAllCores('haproxy', ['-db', '-q', '-f', file]);
  const haproxy: ChildProcess = spawn(program, args, { stdio: 'ignore' });
  trial.defer(async () => {
    const exit = once(haproxy, 'exit');
    haproxy.kill('SIGKILL');
    await exit;
  });
  const untilUp = async (index: number) => {
    const line = new RegExp(`^servers,s${index},.*,UP,`, 'm');
    for (;;) {
      const stats = await fetch(`http://127.0.0.1:${statsPort}/stats;csv`).then(
        (response) => response.text(),
        () => '',
      );
      if (line.test(stats)) return;
      await delay(50);
    }
  };
  for (const index of services.keys()) await untilUp(index);
  return { url: `http://127.0.0.1:${port}`, untilUp };
}
