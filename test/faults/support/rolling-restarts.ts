import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './client.ts';
import { ms, quantile, type Trial } from './fault.ts';
import { Ledger } from './ledger.ts';
import { freePort } from '../../support/ports.ts';
import { Readers } from './readers.ts';
import { judgeRefusals } from './refusals.ts';
import { checkWrites, onPostgres, startService } from './scene.ts';
import type { Service } from './service.ts';
import { onAllCores } from './tools.ts';
import { deliveryCounts, startReceiver } from './receiver.ts';
import { positionOf, Streams } from './streams.ts';
import type { World } from './world.ts';
import { Writers } from './writers.ts';

/**
 * Two servers behind haproxy are restarted in turn under load, as in an upgrade. haproxy only retries requests that never reached a
 * server, which is its default. With streams, there is a webhook as well.
 */
export async function rollingRestarts(trial: Trial, streamCount = 0): Promise<string> {
  const { cluster, location, world } = await onPostgres(trial);
  const env = { STREAMS_PER_TOKEN: '10000', WEBHOOK_NETWORKS: '127.0.0.1', SIGNING_KEYS: 'k'.repeat(32) };
  const options = { databaseUrl: cluster.url, env };
  const services = [await startService(trial, options), await startService(trial, options)];
  const proxy = await startProxy(trial, services);
  const { url } = proxy;
  const followers = streamCount > 0 ? await follow(trial, { url, world, count: streamCount }) : undefined;
  const ledger = new Ledger();
  const writers = new Writers({ url, world, ledger, count: followers ? 2 : 8 });
  const reading = new Readers(url, world.token, followers ? 2 : 8);
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
    trial.must(code === 0, `a server ended with ${code}: ${service.logTail()}`);
    await service.start();
    await proxy.untilUp(round % 2);
  }
  await reading.stop();
  await writers.stop();
  const failed = [...writers.refusals, ...reading.refusals];
  judgeRefusals(trial, failed);
  trial.must(warned === exits.length, `/readyz said 503 before ${warned} of ${exits.length} exits`);
  const longest = Math.max(...exits);
  trial.must(longest <= 15_000, `an exit took ${ms(longest)}`);
  trial.figure(longest <= 10_000, `an exit took ${ms(longest)}`);
  const ofStreams = followers ? await followers.check() : '';
  const { wrong } = await checkWrites(trial, location, writers);
  return (
    `${ledger.acknowledged} writes and ${reading.done} reads, ${failed.length} failed; /readyz 503 first ${warned} times; ` +
    `exit after p50 ${ms(quantile(exits, 0.5))}, at most ${ms(longest)}; ${wrong} lost, doubled or broken${ofStreams}`
  );
}

/** Follows the log with many streams and a webhook, through the proxy. */
async function follow(trial: Trial, { url, world, count }: { url: string; world: World; count: number }) {
  const client = new Client(url, world.token);
  const receiver = await startReceiver(0);
  trial.defer(() => receiver.close());
  const graphql = async (query: string) => {
    const { body } = await client.send({ method: 'POST', path: '/graphql', body: { query } });
    return (JSON.parse(body) as { data: { workspace: { changeCursor: string } } }).data;
  };
  const cursorNow = async () => (await graphql('{ workspace { changeCursor } }')).workspace.changeCursor;
  await graphql(`mutation { webhookCreate(input: { url: "${receiver.url}" }) { webhook { id } } }`);
  const cursor = await cursorNow();
  const streams = new Streams(count, { url, token: world.token, cursor });
  await streams.start();
  return {
    check: async () => {
      const end = positionOf(await cursorNow());
      client.close();
      const changes = end - positionOf(cursor);
      const until = performance.now() + 60_000;
      const isBehind = () => streams.position < end || deliveryCounts(receiver.accepted).different < changes;
      while (isBehind() && performance.now() < until) await delay(50);
      const away = streams.awayMs;
      const { different, overtaken } = deliveryCounts(receiver.accepted);
      trial.must(streams.position >= end, `a stream is at ${streams.position} of ${end}`);
      trial.must(different >= changes, `the webhook was told ${different} of ${changes} changes`);
      trial.must(overtaken === 0, `${overtaken} messages came after a later one of their issue`);
      for (const words of streams.wrong.slice(0, 5)) trial.must(false, words);
      const longest = Math.max(0, ...away);
      trial.figure(longest <= 3_000, `a stream came back after ${ms(longest)}`);
      streams.stop();
      return (
        `; ${count} streams: ${changes} changes told to all of them, ${away.length} times back after p50 ${ms(quantile(away, 0.5))}, ` +
        `at most ${ms(longest)}, ${streams.refused} times told to come again; webhook: ${different} messages, ` +
        `${receiver.accepted.length - different} repeated, ${overtaken} in the wrong order`
      );
    },
  };
}

/** Whether `/readyz` answers 503 before the server ends. */
async function saysNotReady(service: Service): Promise<boolean> {
  const client = new Client(service.url);
  try {
    while (service.isRunning) {
      const answer = await client.send({ path: '/readyz', withinMs: 5_000 });
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

/** Starts haproxy in front of the servers, and waits until it considers both healthy. */
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
