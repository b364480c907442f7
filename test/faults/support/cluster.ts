import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../support/ports.ts';
import { onAllCores } from './tools.ts';

const readyWithinMs = 60_000;

/** A separate PostgreSQL server for a fault to kill, freeze and fill. */
export class Cluster {
  readonly url: string;
  /** The folder of its files and its log. */
  readonly dataDir: string;
  readonly #log: string;
  readonly #port: number;
  #postmaster: ChildProcess | undefined;

  private constructor(
    folder: string,
    dataDir: string,
    port: number,
    url = `postgres://postgres@127.0.0.1:${port}/postgres`,
  ) {
    this.dataDir = dataDir;
    this.#log = join(folder, 'postgres.log');
    this.#port = port;
    this.url = url;
  }

  /** A server that runs already. It is not stopped, and cannot be killed or frozen. */
  static at(url: string): Cluster {
    return new Cluster('', '', Number(new URL(url).port), url);
  }

  /** Whether this process has started it, so that it can kill it. */
  get isOwn(): boolean {
    return this.dataDir !== '';
  }

  /** Creates a cluster in a new folder and starts it, with PostgreSQL's default settings for durability. */
  static async create(
    folder: string,
    settings: Readonly<Record<string, string>> = {},
    dataDir = join(folder, 'data'),
  ): Promise<Cluster> {
    mkdirSync(folder, { recursive: true });
    const { uid, gid } = owner();
    for (const path of [folder, dataDir])
      if (uid !== undefined && existsSync(path)) chownSync(path, uid, gid);
    const options = ['-U', 'postgres', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8', '--no-sync'];
    execFileSync(join(binaries(), 'initdb'), ['-D', dataDir, ...options], {
      stdio: 'ignore',
      uid,
      gid,
      cwd: folder,
    });
    const port = await freePort();
    const all = {
      listen_addresses: "'127.0.0.1'",
      unix_socket_directories: `'${folder}'`,
      port: String(port),
      max_connections: '60',
      shared_buffers: '64MB',
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(dataDir, 'postgresql.conf'), lines.join(''));
    const cluster = new Cluster(folder, dataDir, port);
    await cluster.start();
    return cluster;
  }

  /** Creates a standby in a new folder, which follows this cluster by streaming. */
  async standby(folder: string): Promise<Cluster> {
    mkdirSync(folder, { recursive: true });
    const { uid, gid } = owner();
    if (uid !== undefined) chownSync(folder, uid, gid);
    const dataDir = join(folder, 'data');
    const from = ['-h', '127.0.0.1', '-p', String(this.#port), '-U', 'postgres'];
    const options = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
    await promisify(execFile)(join(binaries(), 'pg_basebackup'), ['-D', dataDir, ...from, ...options], {
      uid,
      gid,
      cwd: folder,
    });
    const port = await freePort();
    const settings = [`port = ${port}`, `unix_socket_directories = '${folder}'`];
    appendFileSync(join(dataDir, 'postgresql.conf'), `${settings.join('\n')}\n`);
    const url = new URL(this.url);
    url.port = String(port);
    const cluster = new Cluster(folder, dataDir, port, url.href);
    await cluster.start();
    return cluster;
  }

  /** The servers that have its rows: all nodes of a Citus cluster, whose coordinator it is, or itself. */
  async nodes(): Promise<Cluster[]> {
    const extensions = await this.query("select 1 as one from pg_extension where extname = 'citus'");
    if (extensions.length === 0) return [this];
    const found = await this.query<{ host: string; port: number }>(
      'select nodename as host, nodeport as port from pg_dist_node where isactive',
    );
    return found.map(({ host, port }) => {
      const url = new URL(this.url);
      url.host = `${host}:${port}`;
      return Cluster.at(url.href);
    });
  }

  /** Pauses the replay on a standby: it receives the WAL of its primary, but shows nothing new. */
  async pauseReplay(primary: Cluster): Promise<void> {
    await this.query('select pg_wal_replay_pause()');
    // A standby that waits for WAL pauses only when the next record arrives.
    while ((await this.#pauseState()) !== 'paused')
      await primary.query(`select pg_logical_emit_message(true, 'workgraph', '')`);
  }

  async resumeReplay(): Promise<void> {
    await this.query('select pg_wal_replay_resume()');
  }

  async #pauseState(): Promise<string | undefined> {
    const [row] = await this.query<{ state: string }>('select pg_get_wal_replay_pause_state() as state');
    return row?.state;
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    await this.query('select pg_promote()');
  }

  /** Starts it and waits until it answers. */
  async start(): Promise<void> {
    const log = openSync(this.#log, 'a');
    const { uid, gid } = owner();
    const [program, args] = onAllCores(join(binaries(), 'postgres'), ['-D', this.dataDir]);
    const postmaster = spawn(program, args, { uid, gid, stdio: ['ignore', log, log] });
    this.#postmaster = postmaster;
    const until = performance.now() + readyWithinMs;
    while (!(await this.answers())) {
      if (postmaster.exitCode !== null || performance.now() > until)
        throw new Error(`PostgreSQL does not start: ${readFileSync(this.#log, 'utf8').slice(-2_000)}`);
      await delay(20);
    }
  }

  /** Whether it accepts a connection and a statement now. */
  async answers(): Promise<boolean> {
    return this.query('select 1').then(
      () => true,
      () => false,
    );
  }

  /** A direct connection, which the caller closes. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Runs a statement on a direct connection of its own. */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = await this.connect();
    try {
      return (await client.query(text, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Kills the postmaster and all its children, like a crash of the machine. */
  async kill(): Promise<void> {
    const pids = this.#pids();
    const exit = this.#exit();
    for (const pid of pids) signal(pid, 'SIGKILL');
    await exit;
    // A new postmaster does not start while a child still has the shared memory attached.
    while (pids.some((pid) => existsSync(`/proc/${pid}`))) await delay(5);
  }

  /** Kills one process that serves a connection; the postmaster then ends all others and recovers. */
  killBackend(): void {
    const children = this.#pids().slice(1);
    const backend = children.find((pid) => /127\.0\.0\.1/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
    if (backend !== undefined) signal(backend, 'SIGKILL');
  }

  /** Freezes all its processes: connections stay open, and nothing answers. */
  freeze(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#pids().toReversed()) signal(pid, 'SIGCONT');
  }

  /** Whether it is still running; a full disk may have ended it. */
  get isRunning(): boolean {
    return (
      this.#postmaster !== undefined &&
      this.#postmaster.exitCode === null &&
      this.#postmaster.signalCode === null
    );
  }

  /** Ends connections and stops. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.thaw();
    const exit = this.#exit();
    this.#postmaster?.kill('SIGINT');
    await exit;
  }

  async #exit(): Promise<void> {
    if (this.#postmaster && this.isRunning) await once(this.#postmaster, 'exit');
  }

  /** The postmaster first. */
  #pids(): number[] {
    const { pid } = this.#postmaster ?? {};
    return pid === undefined || !this.isRunning ? [] : withChildren(pid);
  }

  /** The target of a proxy. */
  get address(): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.#port };
  }
}

/** A process and its children, itself first. */
export function withChildren(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
  return [pid, ...children];
}

function parentOf(pid: string): number | undefined {
  try {
    // The name of the program is in parentheses and may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended meanwhile.
  }
}

/** PostgreSQL refuses to be run by root, so root runs it as another user. */
export function owner(): { uid: number; gid: number } | { uid?: undefined; gid?: undefined } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

/** Why no cluster can be created on this machine; undefined if one can. */
export function reasonForNoCluster(): string | undefined {
  try {
    owner();
    const needed = ['initdb', 'postgres', 'pg_basebackup'];
    const absent = needed.filter((name) => !existsSync(join(binaries(), name)));
    return absent.length > 0 ? `there is no ${absent.join(', ')}` : undefined;
  } catch {
    return "PostgreSQL's server programs or its user are missing";
  }
}

/** The programs that `npm run citus` names, or those of the newest PostgreSQL of a Debian-like machine, or those in the path. */
function binaries(): string {
  const named = process.env.FAULTS_POSTGRES_BINARIES;
  if (named !== undefined) return named;
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Boolean) : [];
  if (versions.length > 0) return join(root, String(Math.max(...versions)), 'bin');
  return execFileSync('pg_config', ['--bindir']).toString().trim();
}
