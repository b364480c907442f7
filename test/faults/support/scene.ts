import { Cluster } from './cluster.ts';
import type { Trial } from './fault.ts';
import { Proxy } from './proxy.ts';
import { Service, type ServiceOptions } from './service.ts';
import { makeWorld, withDatabase, type DatabaseLocation, type World } from './world.ts';
import type { Writers } from './writers.ts';

/** A database for the fault alone, with a workspace. */
export interface Scene {
  readonly cluster: Cluster;
  readonly location: DatabaseLocation;
  readonly world: World;
}

/** A PostgreSQL server for the fault alone, or the empty database that `npm run citus` names. */
export async function clusterFor(trial: Trial, folder = trial.folder): Promise<Cluster> {
  const url = process.env.FAULTS_DATABASE_URL;
  if (url !== undefined) return Cluster.at(url);
  const cluster = await Cluster.create(folder);
  trial.defer(() => cluster.stop());
  return cluster;
}

export async function onPostgres(trial: Trial): Promise<Scene> {
  const cluster = await clusterFor(trial);
  const location = { url: cluster.url };
  return { cluster, location, world: await makeWorld(location) };
}

/** Adds a server. */
export async function serverOnPostgres(
  trial: Trial,
  env?: ServiceOptions['env'],
): Promise<Scene & { service: Service }> {
  const scene = await onPostgres(trial);
  return { ...scene, service: await startService(trial, { databaseUrl: scene.cluster.url, env }) };
}

/** Adds a server, with a proxy between it and PostgreSQL. */
export async function serverBehindProxy(trial: Trial): Promise<Scene & { service: Service; proxy: Proxy }> {
  const scene = await onPostgres(trial);
  const proxy = await Proxy.before(scene.cluster.address);
  trial.defer(() => proxy.close());
  const through = new URL(scene.cluster.url);
  through.port = String(proxy.port);
  return { ...scene, proxy, service: await startService(trial, { databaseUrl: through.href }) };
}

export async function startService(trial: Trial, options: Omit<ServiceOptions, 'folder'>): Promise<Service> {
  const service = await Service.prepare({ folder: trial.folder, ...options });
  trial.defer(() => service.end('SIGKILL'));
  await service.start();
  return service;
}

/** Checks that all acknowledged writes were applied exactly once, after the writers have stopped; returns the number of errors and a summary. */
export async function checkWrites(
  trial: Trial,
  location: DatabaseLocation,
  { ledger, world, unexpected }: Pick<Writers, 'ledger' | 'world' | 'unexpected'>,
): Promise<{ wrong: number; words: string }> {
  const wrong = await withDatabase(location, (database) => ledger.check(database, world));
  for (const words of [...wrong, ...unexpected].slice(0, 10)) trial.must(false, words);
  return {
    wrong: wrong.length,
    words: `${ledger.acknowledged} writes acknowledged, ${wrong.length} lost, doubled or broken`,
  };
}
