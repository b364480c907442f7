import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ms, quantile, runFault, type Trial } from './support/fault.ts';
import { Ledger } from './support/ledger.ts';
import { clusterFor, checkWrites } from './support/scene.ts';
import { Service } from './support/service.ts';
import { makeWorld, type DatabaseLocation } from './support/world.ts';
import { Writers } from './support/writers.ts';
import { chance } from './support/chance.ts';

// The server is killed while sixteen clients write, and started again; each acknowledged write must be there exactly once.
await runFault(import.meta.filename, {
  fault: '`kill -9` of the server in mid-write, 16 writers, both engines',
  pass: '0 acknowledged writes lost, 0 doubled, one entry per write that the feed lists; first new acknowledgement ≤ 3 s PostgreSQL, ≤ 5 s embedded',
  amount: { unit: 'rounds on each engine', short: 3, long: 200 },
  run: async (trial) => {
    const postgres = await onPostgres(trial);
    const embedded = await onEmbedded(trial);
    return `PostgreSQL ${postgres}; embedded ${embedded}`;
  },
});

async function onPostgres(trial: Trial): Promise<string> {
  const folder = join(trial.folder, 'postgres');
  mkdirSync(folder);
  const cluster = await clusterFor(trial, folder);
  const service = await Service.prepare({ folder, databaseUrl: cluster.url });
  return rounds(trial, service, { url: cluster.url }, 3_000);
}

async function onEmbedded(trial: Trial): Promise<string> {
  const service = await Service.prepare({ folder: trial.folder });
  return rounds(trial, service, { dataDir: service.dataDir }, 5_000);
}

async function rounds(
  trial: Trial,
  service: Service,
  location: DatabaseLocation,
  withinMs: number,
): Promise<string> {
  const ledger = new Ledger();
  const world = await makeWorld(location);
  trial.defer(() => service.end('SIGKILL'));
  await service.start();
  const writers = new Writers({ url: service.url, world, ledger });
  await writers.acknowledgement();
  const returns: number[] = [];
  for (let round = 0; round < trial.amount; round++) {
    await delay(50 + chance.fraction() * 400);
    await service.end('SIGKILL');
    const began = performance.now();
    service.launch();
    await writers.acknowledgement();
    returns.push(performance.now() - began);
  }
  await writers.stop();
  trial.must((await service.end()) === 0, `the last server did not end with 0: ${service.logTail()}`);
  const { words: found } = await checkWrites(trial, location, writers);
  const longest = Math.max(...returns);
  trial.must(longest <= 10 * withinMs, `the first acknowledgement took ${ms(longest)}`);
  trial.figure(longest <= withinMs, `the first acknowledgement took ${ms(longest)}, of ${ms(withinMs)}`);
  return `${found}, back after p50 ${ms(quantile(returns, 0.5))}, at most ${ms(longest)}`;
}
