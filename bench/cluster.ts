import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/support/ports.ts';

/** The PostgreSQL server of the benchmark, or an external one, which has no process id. */
export interface Cluster {
  readonly url: string;
  /**
   * The id of the postmaster, whose CPU time is measured with that of its children; undefined for an external server.
   */
  readonly pid: number | undefined;
  stop(): void;
}

/** Where everything is kept between runs. */
export const clusterFolder = process.env['BENCH_CLUSTER_DIR'] ?? join(import.meta.dirname, '.cluster');
const folder = clusterFolder;
const dataDir = join(folder, 'data');
const portFile = join(folder, 'port');
const superuser = process.getuid?.() === 0;

/** Settings for a small dedicated machine. Statement statistics are only collected while statements are counted. */
const settings = {
  listen_addresses: "'127.0.0.1'",
  unix_socket_directories: `'${folder}'`,
  max_connections: 200,
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  work_mem: '16MB',
  maintenance_work_mem: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '30min',
  random_page_cost: 1.1,
  jit: 'off',
  shared_preload_libraries: "'pg_stat_statements'",
  'pg_stat_statements.track': 'none',
};

/** Starts the cluster. Creates it if there is none, or if `fresh`; and a database of the name if there is none. */
export async function openCluster({
  fresh,
  database = 'bench',
}: {
  fresh: boolean;
  database?: string;
}): Promise<Cluster> {
  const externalUrl = process.env['BENCH_DATABASE_URL'];
  if (externalUrl) return { url: externalUrl, pid: undefined, stop: () => undefined };
  if (fresh) removeCluster();
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await create();
  if (!isRunning()) run('pg_ctl', ['-D', dataDir, '-w', '-l', join(folder, 'log'), 'start']);
  const [pid] = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
  const port = readFileSync(portFile, 'utf8').trim();
  ensureDatabase(port, database);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/${database}`,
    pid: Number(pid),
    stop: () => run('pg_ctl', ['-D', dataDir, '-m', 'fast', '-w', 'stop']),
  };
}

/** Stops the cluster that an earlier run left running. Returns whether there was one. */
export function stopKeptCluster(): boolean {
  if (!existsSync(dataDir) || !isRunning()) return false;
  run('pg_ctl', ['-D', dataDir, '-m', 'fast', '-w', 'stop']);
  return true;
}

function removeCluster(): void {
  stopKeptCluster();
  rmSync(folder, { recursive: true, force: true });
}

async function create(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (superuser) chownSync(folder, ownerId('-u'), ownerId('-g'));
  run('initdb', ['-D', dataDir, '-U', 'postgres', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8']);
  const port = await freePort();
  const lines = Object.entries({ ...settings, port }).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(dataDir, 'postgresql.auto.conf'), lines.join(''));
  writeFileSync(portFile, String(port));
}

function ensureDatabase(port: string, name: string): void {
  const psql = ['-h', '127.0.0.1', '-p', port, '-U', 'postgres'];
  const found = run('psql', [...psql, '-Atc', `select 1 from pg_database where datname = '${name}'`]);
  if (found.trim() !== '1') run('createdb', [...psql, name]);
}

function isRunning(): boolean {
  return spawnSync(...asOwner('pg_ctl', ['-D', dataDir, 'status'])).status === 0;
}

function run(program: string, args: string[]): string {
  const [command, all] = asOwner(program, args);
  // The server that pg_ctl starts would keep a pipe open.
  const stdio = program === 'pg_ctl' ? 'ignore' : (['ignore', 'pipe', 'inherit'] as const);
  return String(execFileSync(command, all, { stdio: stdio as 'ignore', cwd: folder }) ?? '');
}

/** PostgreSQL refuses to run as root, so root runs it as another user. */
function asOwner(program: string, args: string[]): [string, string[]] {
  const path = join(binaries(), program);
  return superuser ? ['runuser', ['-u', owner(), '--', path, ...args]] : [path, args];
}

function owner(): string {
  return spawnSync('id', ['postgres']).status === 0 ? 'postgres' : 'nobody';
}

function ownerId(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, owner()]));
}

/** The directory of the newest PostgreSQL of a Debian-like system, otherwise the one in the path. */
function binaries(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Boolean) : [];
  if (versions.length > 0) return join(root, String(Math.max(...versions)), 'bin');
  return execFileSync('pg_config', ['--bindir']).toString().trim();
}
