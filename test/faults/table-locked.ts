import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Client } from './support/client.ts';
import { ms, quantile, runFault } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { checkWrites, serverOnPostgres } from './support/scene.ts';
import { Writers } from './support/writers.ts';

// A session holds a lock on the table of issues, so that every statement on it waits and the pool is exhausted.
await runFault(import.meta.filename, {
  fault: 'table locked, and with it the pool exhausted',
  pass: '503 ≤ 1.2 s to waiters, probes untouched, 0 leaked connections',
  amount: { unit: 's', short: 6, long: 20 },
  run: async (trial) => {
    const { cluster, location, world, service } = await serverOnPostgres(trial);
    const ledger = new Ledger();
    const writers = new Writers({ url: service.url, world, ledger });
    await writers.acknowledgement();
    const locker = new pg.Client({ connectionString: cluster.url });
    await locker.connect();
    await locker.query('begin; lock table issue in access exclusive mode');
    // Requests with a connection wait for the lock until the statement timeout; all others wait for a connection.
    const until = performance.now() + trial.amount * 1_000;
    const waiters: { status: number; ms: number }[] = [];
    const probes: { path: string; status: number; ms: number }[] = [];
    const waiting = async () => {
      const client = new Client(service.url, world.token);
      while (performance.now() < until) {
        const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
        waiters.push({ status: answer?.status ?? 0, ms: answer?.ms ?? Number.POSITIVE_INFINITY });
        await delay(50);
      }
      client.close();
    };
    const probing = async (path: string) => {
      const client = new Client(service.url);
      while (performance.now() < until) {
        const answer = await client.send({ path }).catch(() => undefined);
        probes.push({ path, status: answer?.status ?? 0, ms: answer?.ms ?? Number.POSITIVE_INFINITY });
        await delay(100);
      }
      client.close();
    };
    await Promise.all([...Array.from({ length: 24 }, waiting), probing('/readyz'), probing('/health')]);
    await locker.query('rollback');
    await locker.end();
    await writers.acknowledgement();
    await writers.stop();
    const { words: found } = await checkWrites(trial, location, writers);
    const refused = waiters.filter(({ status }) => status === 503).map(({ ms }) => ms);
    const others = waiters.filter(({ status }) => status !== 503 && status !== 200);
    const longest = Math.max(...refused);
    const bad = probes.filter(({ status }) => status !== 200);
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    trial.must(others.length === 0, `${others.length} waiters were answered ${others[0]?.status}`);
    trial.must(refused.length > 0, 'nobody was refused');
    trial.must(longest <= 10_000, `a waiter was refused after ${ms(longest)}`);
    trial.figure(
      quantile(refused, 0.99) <= 1_200,
      `waiters were refused after p99 ${ms(quantile(refused, 0.99))}`,
    );
    trial.must(
      bad.length === 0,
      `${bad.length} of ${probes.length} probes failed, ${bad[0]?.path} with ${bad[0]?.status}`,
    );
    const probeMs = quantile(
      probes.map(({ ms }) => ms),
      0.99,
    );
    await delay(500);
    const [left] = await cluster.query<{ all: number; stuck: number }>(
      `select count(*)::int as all, count(*) filter (where state <> 'idle')::int as stuck
       from pg_stat_activity where application_name = 'workgraph'`,
    );
    trial.must(left?.stuck === 0, `${left?.stuck} connections are not idle afterwards`);
    trial.must((left?.all ?? 99) <= 12, `${left?.all} connections are open afterwards`);
    return (
      `${refused.length} × 503 after p50 ${ms(quantile(refused, 0.5))}, p99 ${ms(quantile(refused, 0.99))}, at most ${ms(longest)}; ` +
      `${bad.length} of ${probes.length} probes failed, p99 ${ms(probeMs)}; ${left?.stuck} connections leaked; ${found}`
    );
  },
});
