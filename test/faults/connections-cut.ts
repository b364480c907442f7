import { brokenInvariants } from '../support/invariants.ts';
import { Client } from './support/client.ts';
import type { Cluster } from './support/cluster.ts';
import { Cutter } from './support/cutter.ts';
import { EveryWrite, footprints, type Write, writeNames } from './support/every-write.ts';
import { runFault } from './support/fault.ts';
import { serverBehindProxy } from './support/scene.ts';
import type { Service } from './support/service.ts';
import { withDatabase } from './support/world.ts';

const poolSize = 10;

// A proxy between server and PostgreSQL cuts the connection at the nth statement of a write, before PostgreSQL receives the statement
// or before the server receives its result; the write is then repeated under its key.
await runFault(import.meta.filename, {
  fault: 'connections cut at every statement of every write',
  pass: '0 exits, 0 partial writes, pool full again',
  amount: { unit: 'cuts', short: 100, long: 10_000 },
  run: async (trial) => {
    const { cluster, location, world, proxy, service } = await serverBehindProxy(trial);
    const { pid } = service;
    const client = new Client(service.url, world.token);
    trial.defer(() => client.close());
    const writes = new EveryWrite(client, world);
    const cutter = new Cutter(trial, client, proxy);
    const points = new Map<string, number>();
    const done: CutResult[] = [];
    for (let cuts = 0; cuts < trial.amount && service.isRunning; ) {
      for (const name of writeNames) {
        for (const when of ['before', 'done'] as const) {
          for (let statement = 1; cuts < trial.amount; statement++) {
            const write = await writes.prepare(name);
            const isCut = await cutter.cut(write, { statement, when });
            done.push({ write, isCut });
            if (!isCut) {
              points.set(`${name} ${when}`, statement - 1);
              break;
            }
            cuts++;
          }
        }
      }
    }
    trial.must(service.isRunning && service.pid === pid, `the server ended: ${service.logTail()}`);
    const wrong = await withDatabase(location, async (database) => {
      const broken = await brokenInvariants(database);
      return [
        ...partial(done, await footprints(database)),
        ...Object.keys(broken).map((rule) => `broken: ${rule}`),
      ];
    });
    for (const words of wrong.slice(0, 10)) trial.must(false, words);
    const pool = await fullPool(service, cluster, world.token);
    trial.must(pool.busy === poolSize, `the pool came to ${pool.busy} connections, not ${poolSize}`);
    trial.must(pool.stuck === 0, `${pool.stuck} connections are stuck in a transaction`);
    const all = [...points.values()].reduce((sum, count) => sum + count, 0);
    return (
      `at ${all} points of ${writeNames.length} writes: ${cutter.refused} × 503, ${cutter.survived} answered all the same; ` +
      `0 exits, ${wrong.length} lost, doubled, partial or broken; pool ${pool.busy} of ${poolSize} again`
    );
  },
});

interface CutResult {
  readonly write: Write;
  readonly isCut: boolean;
}

/** The writes whose rows differ from those of an uninterrupted write of the same kind. */
function partial(done: readonly CutResult[], found: ReadonlyMap<string, string>): string[] {
  const complete = new Map<string, string>();
  for (const { write, isCut } of done)
    if (!isCut) complete.set(write.name, found.get(write.mark) ?? 'nothing');
  return done.flatMap(({ write }) => {
    const [due, is] = [complete.get(write.name), found.get(write.mark)];
    // A write without a key is not repeated, so it may or may not have been applied.
    const isRight =
      due === undefined || is === due || (!write.takesKey && is === due.replace('1 tokens', '0 tokens'));
    return isRight ? [] : [`${write.name} left ${is}, not ${due}`];
  });
}

/** Sends more requests at once than the pool has connections. Returns how many connections it opened, and how many are stuck in a transaction. */
async function fullPool(service: Service, cluster: Cluster, token: string) {
  const client = new Client(service.url, token, 64);
  // Fast reads share separate connections, which are not part of the pool.
  for (let read = 0; read < 30; read += 1) await client.send({ path: '/v1/issues?page_size=1' });
  const reads = Array.from({ length: 400 }, () =>
    client.send({ path: '/v1/issues?page_size=100' }).catch(() => undefined),
  );
  await Promise.all(reads);
  client.close();
  const [counted] = await cluster.query<{ busy: number; stuck: number }>(
    `select count(*)::int as busy, count(*) filter (where state like 'idle in transaction%')::int as stuck
     from pg_stat_activity where application_name = 'workgraph'`,
  );
  return counted ?? { busy: 0, stuck: 0 };
}
