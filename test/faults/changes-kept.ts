import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { runFault } from './support/fault.ts';
import { Follower } from './support/followers.ts';
import { Ledger } from './support/ledger.ts';
import { deliveryCounts, startReceiver } from './support/receiver.ts';
import { checkWrites, onPostgres, startService } from './support/scene.ts';
import { Writers } from './support/writers.ts';
import { chance } from './support/chance.ts';

/** The time limit for catching up. The work that a killed process has claimed is free only when its claim expires, which takes longer than the first retry of a message. */
const caughtUpWithinMs = 150_000;

const targets = ['server', 'server', 'connection', 'listener', 'postgres'] as const;

// Three servers write, number and deliver changes while a server, a connection, the listening connection or PostgreSQL is killed.
await runFault(import.meta.filename, {
  fault:
    '`kill -9` of one of three servers, of their connections, of the one that listens, of PostgreSQL; clients change between long poll, stream, subscription and WebSocket; a webhook with a bad receiver',
  pass: 'each position once and in order for each client, without gaps; no two changes of an issue in the wrong order; each change delivered to the webhook, in order for each issue, more than once only with the same id',
  amount: { unit: 'rounds', short: 6, long: 200 },
  run: async (trial) => {
    const { cluster, location, world } = await onPostgres(trial);
    const env = {
      WEBHOOK_NETWORKS: '127.0.0.1',
      SIGNING_KEYS: 'k'.repeat(32),
      STREAMS_PER_TOKEN: '100',
      DRAIN_MS: '0',
    };
    const options = { databaseUrl: cluster.url, env };
    const services = [
      await startService(trial, options),
      await startService(trial, options),
      await startService(trial, options),
    ];
    const urls = services.map(({ url }) => url);
    const [firstUrl = ''] = urls;
    const receiver = await startReceiver(0.01);
    trial.defer(() => receiver.close());
    const client = new Client(firstUrl, world.token);
    trial.defer(() => client.close());
    const graphql = async (query: string) => {
      const answer = await client.send({ method: 'POST', path: '/graphql', body: { query } });
      const { data, errors } = JSON.parse(answer.body) as { data: unknown; errors?: unknown };
      if (errors) throw new Error(answer.body);
      return data;
    };
    await graphql(`mutation { webhookCreate(input: { url: "${receiver.url}" }) { webhook { id } } }`);
    const { workspace } = (await graphql('{ workspace { changeCursor } }')) as {
      workspace: { changeCursor: string };
    };
    const begin = Number(workspace.changeCursor.split('-')[1]);
    const followers = Array.from(
      { length: 4 },
      () => new Follower({ urls, token: world.token, cursor: workspace.changeCursor }),
    );
    const ledger = new Ledger();
    const writers = urls.map((url) => new Writers({ url, world, ledger, count: 5 }));
    const killable = targets.filter((target) => target !== 'postgres' || cluster.isOwn);
    const done = new Map<string, number>();
    for (let round = 0; round < trial.amount; round += 1) {
      await delay(200 + chance.fraction() * 600);
      const target = killable[round % killable.length] ?? 'server';
      done.set(target, (done.get(target) ?? 0) + 1);
      if (target === 'server') {
        const service = services[round % services.length];
        await service?.end('SIGKILL');
        await service?.start();
      } else if (target === 'postgres') {
        await cluster.kill();
        await delay(100);
        await cluster.start();
      } else {
        const name = target === 'connection' ? 'workgraph' : 'workgraph listen%';
        await cluster
          .query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where application_name like $1 and pid <> pg_backend_pid() ${target === 'connection' ? 'order by random() limit 2' : ''}`,
            [name],
          )
          .catch(() => undefined);
      }
    }
    await Promise.all(writers.map((each) => each.stop()));
    const head = async () => {
      const [found] = await cluster.query<{ position: number; waiting: number; webhook: number }>(
        `select (select position from change_head)::int as position, (select count(*) from change_inbox)::int as waiting,
           (select position from webhook)::int as webhook`,
      );
      return found ?? { position: -1, waiting: -1, webhook: -1 };
    };
    const deliveries = async () => {
      const [found] = await cluster.query<{ waiting: number }>(
        'select count(*)::int as waiting from webhook_delivery where state = 1',
      );
      return found?.waiting ?? -1;
    };
    const until = performance.now() + caughtUpWithinMs;
    // A message that the receiver has refused twice would otherwise wait for five minutes.
    const hastening = setInterval(() => {
      void cluster.query(
        `update webhook_delivery set next_attempt_utc = now() where state = 1 and next_attempt_utc > now() + interval '10 s'`,
      );
    }, 5_000);
    trial.defer(() => clearInterval(hastening));
    for (;;) {
      const { position, waiting, webhook } = await head();
      const haveCaughtUp = followers.every((one) => one.position === position);
      if (waiting === 0 && haveCaughtUp && webhook === position && (await deliveries()) === 0) break;
      if (performance.now() > until) {
        trial.must(
          false,
          `${waiting} changes have no position, followers are at ${followers.map((one) => one.position).join(', ')} and the webhook at ${webhook} of ${position}, ${await deliveries()} deliveries wait`,
        );
        break;
      }
      await delay(200);
    }
    await Promise.all(followers.map((one) => one.stop()));
    const rows = await cluster.query<{ position: number; id: string; inverted: boolean }>(
      `select position::int, id, coalesce(sort_order < lag(sort_order) over (partition by issue_id order by position), false)
         and issue_id is not null as inverted
       from change where position > $1 order by position`,
      [begin],
    );
    const gaps = rows.filter(({ position }, index) => position !== begin + 1 + index).length;
    const inverted = rows.filter((row) => row.inverted).length;
    trial.must(gaps === 0, `${gaps} positions are out of place`);
    trial.must(inverted === 0, `${inverted} changes are before an earlier one of their issue`);
    for (const { wrong, seen } of followers) {
      for (const words of wrong.slice(0, 5)) trial.must(false, words);
      trial.must(seen.size === rows.length, `a client saw ${seen.size} of ${rows.length} changes`);
    }
    const { different, overtaken } = deliveryCounts(receiver.accepted);
    trial.must(different >= rows.length, `the webhook received ${different} of ${rows.length} changes`);
    trial.must(overtaken === 0, `${overtaken} messages came after a later one of their issue`);
    const unexpected = writers.flatMap((each) => each.unexpected);
    const { wrong } = await checkWrites(trial, location, { ledger, world, unexpected });
    const switches = followers.reduce((sum, { counts }) => sum + counts.switches, 0);
    return (
      `${[...done].map(([what, count]) => `${count} × ${what}`).join(', ')}; ${ledger.acknowledged} writes, ${rows.length} changes, ` +
      `${gaps} gaps, ${inverted} in the wrong order; ${followers.length} clients in ${switches} turns lost and repeated 0; ` +
      `webhook: ${receiver.tried} attempts, ${different} different messages, ${receiver.accepted.length - different} repeated, ${overtaken} in the wrong order; ${wrong} lost, doubled or broken`
    );
  },
});
