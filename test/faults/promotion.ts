import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type Ask, Client } from './support/client.ts';
import { Cluster } from './support/cluster.ts';
import { ms, quantile, runFault, type Trial } from './support/fault.ts';
import { Proxy } from './support/proxy.ts';
import { readsOf } from './support/replica-reads.ts';
import { startService } from './support/scene.ts';
import { makeWorld } from './support/world.ts';

const clients = 8;

interface Counts {
  reads: number;
  wrong: string[];
}

// The primary dies under load. One of its two standbys is promoted, the other one stays on the old timeline. Both are replicas of
// the server, whose address for writes then leads to the new primary.
await runFault(import.meta.filename, {
  fault:
    'promotion of one of two replicas under load, after `kill -9` of the primary; the other one stays on the old timeline',
  pass: '0 wrong answers: each acknowledged write is read back, once; writes again ≤ 10 s after',
  amount: { unit: 'promotions', short: 1, long: 5 },
  run: async (trial) => {
    const counts: Counts = { reads: 0, wrong: [] };
    const returns: number[] = [];
    let writes = 0;
    for (let round = 0; round < trial.amount; round++) {
      const { acknowledged, backMs } = await onePromotion(trial, join(trial.folder, String(round)), counts);
      writes += acknowledged;
      returns.push(backMs);
    }
    for (const words of counts.wrong.slice(0, 5)) trial.must(false, words);
    const longest = Math.max(...returns);
    trial.figure(longest <= 10_000, `writes were acknowledged again after ${ms(longest)}`);
    return (
      `${writes} writes acknowledged, ${counts.reads} reads of them, ${counts.wrong.length} wrong; ` +
      `acknowledged again after p50 ${ms(quantile(returns, 0.5))}, at most ${ms(longest)}`
    );
  },
});

async function onePromotion(trial: Trial, folder: string, counts: Counts) {
  const primary = await Cluster.create(join(folder, 'primary'));
  trial.defer(() => primary.stop());
  const world = await makeWorld({ url: primary.url });
  const [heir, other] = [
    await primary.standby(join(folder, 'heir')),
    await primary.standby(join(folder, 'other')),
  ];
  trial.defer(() => Promise.all([heir.stop(), other.stop()]));
  // What is acknowledged is on both.
  await primary.query(`alter system set synchronous_standby_names = 'ANY 2 (*)'`);
  await primary.query('select pg_reload_conf()');
  const proxy = await Proxy.before(primary.address);
  trial.defer(() => proxy.close());
  const service = await startService(trial, {
    databaseUrl: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
    env: { READ_DATABASE_URLS: `${heir.url},${other.url}` },
  });
  while ((await readsOf(service)).serves !== 1) await delay(20);
  const over = new AbortController();
  const done = { acknowledged: 0 };
  const load = Array.from({ length: clients }, async () => {
    const client = new Client(service.url, world.token);
    const created = await answered(client, newIssue(world.teamId));
    const path = `/v1/issues/${(JSON.parse(created.body) as { key: string }).key}`;
    while (!over.signal.aborted) {
      const title = randomUUID();
      const headers = { 'Idempotency-Key': randomUUID() };
      const written = await answered(client, { method: 'PATCH', path, body: { title }, headers });
      done.acknowledged += 1;
      const seen = String(written.headers['x-workgraph-consistency']);
      const read = await answered(client, { path, headers: { 'X-Workgraph-Consistency': seen } });
      counts.reads += 1;
      if ((JSON.parse(read.body) as { title?: string }).title !== title)
        counts.wrong.push(`after ${title}, which was acknowledged with ${seen}: ${read.body.slice(0, 200)}`);
    }
    client.close();
  });
  await delay(2_000);
  const began = performance.now();
  await primary.kill();
  await heir.promote();
  const back = done.acknowledged + 2 * clients;
  proxy.leadTo(heir.address);
  while (done.acknowledged < back) await delay(20);
  const backMs = performance.now() - began;
  // The positions of the new timeline grow beyond where the other standby stopped.
  await delay(3_000);
  over.abort();
  await Promise.all(load);
  const [found] = await heir.query<{ written: number }>(
    'select sum(revision - 1)::int as written from issue',
  );
  const { acknowledged } = done;
  if (found?.written !== acknowledged)
    counts.wrong.push(`${found?.written} writes of ${acknowledged} that were acknowledged`);
  await service.end('SIGKILL');
  await Promise.all([heir.stop(), other.stop()]);
  return { acknowledged, backMs };
}

function newIssue(teamId: string): Ask {
  const body = { teamId, title: randomUUID(), description: '', priority: 0 };
  return { method: 'POST', path: '/v1/issues', body, headers: { 'Idempotency-Key': randomUUID() } };
}

/** Sends a request until it succeeds. */
async function answered(client: Client, ask: Ask): Promise<Answer> {
  for (;;) {
    const answer = await client.ask({ ...ask, withinMs: 10_000 }).catch(() => undefined);
    if (answer && answer.status < 300) return answer;
    await delay(20);
  }
}
