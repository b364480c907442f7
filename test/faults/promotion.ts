import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster } from './support/cluster.ts';
import { ms, quantile, runFault, type Trial } from './support/fault.ts';
import { OwnWrites } from './support/own-writes.ts';
import { Proxy } from './support/proxy.ts';
import { readsOf } from './support/replica-reads.ts';
import { startService } from './support/scene.ts';
import { makeWorld } from './support/world.ts';

const clientCount = 8;

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
  const clients = new OwnWrites(service.url, world, clientCount);
  await delay(2_000);
  const began = performance.now();
  await primary.kill();
  await heir.promote();
  const back = clients.acknowledged + 2 * clientCount;
  proxy.leadTo(heir.address);
  while (clients.acknowledged < back) await delay(20);
  const backMs = performance.now() - began;
  // The positions of the new timeline grow beyond where the other standby stopped.
  await delay(3_000);
  await clients.stop();
  const [found] = await heir.query<{ written: number }>(
    'select sum(revision - 1)::int as written from issue',
  );
  const { acknowledged } = clients;
  counts.reads += clients.reads;
  counts.wrong.push(...clients.wrong);
  if (found?.written !== acknowledged)
    counts.wrong.push(`${found?.written} writes of ${acknowledged} that were acknowledged`);
  await service.end('SIGKILL');
  await Promise.all([heir.stop(), other.stop()]);
  return { acknowledged, backMs };
}
