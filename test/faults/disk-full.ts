import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './support/client.ts';
import { Cluster } from './support/cluster.ts';
import { fill, mountDisk, unmount } from './support/disk.ts';
import { runFault, type Trial } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { checkWrites } from './support/scene.ts';
import { Service } from './support/service.ts';
import { makeWorld, type DatabaseLocation } from './support/world.ts';
import { Writers } from './support/writers.ts';

// The data (of the embedded engine, the log too) is on a small tmpfs of its own, which is filled to the last byte while sixteen clients
// write.
await runFault(import.meta.filename, {
  fault: 'disk full, both engines',
  pass: 'reads go on, writes 507 or 503, 0 acknowledged lost, starts again when there is room',
  amount: { unit: 'rounds on each', short: 1, long: 5 },
  needs: ['mount'],
  run: async (trial) => {
    const postgres = await onPostgres(trial);
    const embedded = await onEmbedded(trial);
    return `PostgreSQL ${postgres}; embedded ${embedded}`;
  },
});

async function onPostgres(trial: Trial): Promise<string> {
  const folder = join(trial.folder, 'postgres');
  const disk = smallDisk(trial, join(folder, 'disk'));
  const settings = { max_wal_size: '32MB', min_wal_size: '32MB', shared_buffers: '16MB' };
  const cluster = await Cluster.create(folder, settings, join(disk, 'data'));
  trial.defer(() => cluster.stop());
  const service = await Service.prepare({ folder, databaseUrl: cluster.url });
  return rounds(trial, {
    service,
    disk,
    location: { url: cluster.url },
    // A server that could not write its log has ended; an operator would start it again.
    recover: async () => {
      if (cluster.isRunning && (await cluster.answers())) return 'went on';
      await cluster.stop();
      await cluster.start();
      return 'was started again';
    },
  });
}

async function onEmbedded(trial: Trial): Promise<string> {
  const folder = join(trial.folder, 'embedded');
  const disk = smallDisk(trial, join(folder, 'disk'));
  const service = await Service.prepare({ folder: disk });
  return rounds(trial, {
    service,
    disk,
    location: { dataDir: service.dataDir },
    recover: async () => {
      if (service.isRunning) return 'went on';
      await service.start();
      return 'was started again';
    },
  });
}

interface Full {
  readonly service: Service;
  readonly disk: string;
  readonly location: DatabaseLocation;
  readonly recover: () => Promise<string>;
}

async function rounds(trial: Trial, { service, disk, location, recover }: Full): Promise<string> {
  const world = await makeWorld(location);
  trial.defer(() => service.end('SIGKILL'));
  await service.start();
  const { pid } = service;
  const ledger = new Ledger();
  const writers = new Writers({ url: service.url, world, ledger });
  await writers.acknowledgement();
  const client = new Client(service.url, world.token);
  const statuses = new Map<number, number>();
  let wordsAtEnd = '';
  const recoveries = new Set<string>();
  const ballast = join(disk, 'ballast');
  for (let round = 0; round < trial.amount; round++) {
    const before = writers.refusals.length;
    fill(ballast);
    // Repeated until a write is refused, because the file system may free a few bytes meanwhile.
    const until = performance.now() + 60_000;
    const isFull = () =>
      writers.refusals.slice(before).some(({ status }) => status === 507 || status === 503);
    while (!isFull() && performance.now() < until) {
      fill(ballast);
      await delay(50);
    }
    for (let reads = 0; reads < 20; reads++) {
      const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
      const status = answer?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    if (!service.isRunning) wordsAtEnd = service.logTail();
    rmSync(ballast);
    recoveries.add(await recover());
    const back = await Promise.race([writers.acknowledgement().then(() => true), delay(60_000, false)]);
    trial.must(back, `no write was acknowledged within 60 s of the room: ${service.logTail()}`);
    if (!back) break;
  }
  client.close();
  await writers.stop();
  trial.must(service.pid === pid, `the server ended: ${wordsAtEnd}`);
  trial.must((await service.end()) === 0, `the server did not end with 0: ${service.logTail()}`);
  const { words: found } = await checkWrites(trial, location, writers);
  const failed = [...statuses].filter(([status]) => status !== 200);
  trial.must(
    failed.length === 0,
    `reads were answered ${failed.map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  );
  const refused = new Map<number, number>();
  for (const { status } of writers.refusals) refused.set(status, (refused.get(status) ?? 0) + 1);
  trial.must(!refused.has(0), `${refused.get(0)} writes were not answered`);
  const words = [...refused].map(([status, count]) => `${count} × ${status}`).join(', ');
  return `${statuses.get(200) ?? 0} reads answered, writes refused ${words}, the database ${[...recoveries].join(' and ')}, ${found}`;
}

function smallDisk(trial: Trial, path: string): string {
  mountDisk(path, 160);
  trial.defer(() => unmount(path));
  return path;
}
