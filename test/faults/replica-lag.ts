import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { Client } from './support/client.ts';
import { runFault } from './support/fault.ts';
import { onPostgres, startService } from './support/scene.ts';
import { readsOf } from './support/replica-reads.ts';

const clients = 8;

// The standby receives the log and replays nothing. Each write is read back at once with the header of its answer, at another server.
await runFault(import.meta.filename, {
  fault:
    'replica lag: replay is paused, two servers, each write is read back with `X-Workgraph-Consistency` at the other one',
  pass: '0 stale reads',
  amount: { unit: 'reads', short: 400, long: 10_000 },
  run: async (trial) => {
    const { cluster, world } = await onPostgres(trial);
    const standby = await cluster.standby(join(trial.folder, 'standby'));
    trial.defer(() => standby.stop());
    const env = { READ_DATABASE_URLS: standby.url };
    const services = [
      await startService(trial, { databaseUrl: cluster.url, env }),
      await startService(trial, { databaseUrl: cluster.url, env }),
    ];
    for (const service of services) while ((await readsOf(service)).serves !== 1) await delay(20);
    const one = new Client(services[0]?.url ?? '', world.token, clients);
    const other = new Client(services[1]?.url ?? '', world.token, clients);
    let done = 0;
    let stale = 0;
    /** Reads of a client that does not send the header, at a server that has not heard of the write. */
    let behind = 0;
    const replaying = (async () => {
      // The replica comes back again and again, so that it is in use for most of the time, and behind.
      while (done < trial.amount) {
        await standby.pauseReplay(cluster);
        await delay(2_000);
        await standby.resumeReplay();
        await delay(300);
      }
    })();
    await Promise.all(
      Array.from({ length: clients }, async () => {
        const body = { teamId: world.teamId, title: randomUUID(), description: '', priority: 0 };
        const made = await one.send({ method: 'POST', path: '/v1/issues', body });
        const { key } = JSON.parse(made.body) as { key: string };
        const path = `/v1/issues/${key}`;
        while (done < trial.amount) {
          const title = randomUUID();
          const written = await one.send({ method: 'PATCH', path, body: { title } });
          const seen = String(written.headers['x-workgraph-consistency']);
          const [withHeader, without] = await Promise.all([
            other.send({ path, headers: { 'X-Workgraph-Consistency': seen } }),
            other.send({ path }),
          ]);
          done += 1;
          const shows = (body: string) => (JSON.parse(body) as { title?: string }).title === title;
          if (!shows(withHeader.body)) stale += 1;
          if (!shows(without.body)) behind += 1;
        }
      }),
    );
    await replaying;
    for (const client of [one, other]) client.close();
    const [first, second] = [await readsOf(services[0]), await readsOf(services[1])];
    trial.must(stale === 0, `${stale} stale reads`);
    trial.must(first.reads + second.reads > 0, 'the replica answered nothing');
    return `${stale} stale with the header, ${behind} without it; the replica answered ${second.reads} of the reads`;
  },
});
