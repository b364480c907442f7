import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { signal, withChildren } from '../../test/faults/support/cluster.ts';
import { freePort } from '../../test/support/ports.ts';

const isRoot = process.getuid?.() === 0;
const major = '15';

/** One PostgreSQL server, with a folder of its own. */
interface Server {
  readonly folder: string;
  readonly port: number;
}

/** A server that follows a node. */
export interface Standby {
  /** The number of the node. */
  readonly of: number;
  readonly server: Server;
  url(database: string): string;
}

/** A coordinator and two workers with Citus, in a folder. Nothing is installed outside of it. */
export class Nodes {
  readonly folder: string;
  readonly #servers: Server[];
  readonly #standbys: Server[] = [];

  private constructor(folder: string, servers: Server[]) {
    this.folder = folder;
    this.#servers = servers;
  }

  /**
   * Copies PostgreSQL with the built tree of Citus into the folder, and starts three servers from this copy. `prepare` is called
   * with the folder of each before there is anything in it.
   */
  static async create(
    folder: string,
    builtTree: string,
    prepare: (index: number, folder: string) => void = () => undefined,
  ): Promise<Nodes> {
    mkdirSync(folder, { recursive: true });
    if (isRoot) chownSync(folder, idOf('-u'), idOf('-g'));
    install(folder, builtTree);
    const servers: Server[] = [];
    for (const name of ['coordinator', 'worker-1', 'worker-2'])
      servers.push({ folder: join(folder, name), port: await freePort() });
    const nodes = new Nodes(folder, servers);
    for (const [index, server] of servers.entries()) {
      prepare(index, server.folder);
      nodes.#init(server);
      nodes.start(index);
    }
    return nodes;
  }

  /** The URL of a database on the coordinator. */
  url(database: string): string {
    return urlOf(this.#server(0), database);
  }

  /** Creates a database on all nodes, and makes one cluster of them. */
  async createDatabase(name: string): Promise<void> {
    for (const index of this.indexes) {
      await this.#query(index, 'postgres', `create database ${name}`);
      await this.#query(index, name, 'create extension citus');
    }
    const [coordinator, ...workers] = this.#servers;
    await this.#query(0, name, `select citus_set_coordinator_host('127.0.0.1', ${coordinator?.port})`);
    for (const { port } of workers) await this.#query(0, name, `select citus_add_node('127.0.0.1', ${port})`);
  }

  portOf(index: number): number {
    return this.#server(index).port;
  }

  async query<Row>(database: string, text: string): Promise<Row[]> {
    return this.#query<Row>(0, database, text);
  }

  /** The number of the node that has the rows of a workspace. */
  async holderOf(url: string, workspaceId: string): Promise<number> {
    const [found] = await this.query<{ port: number }>(
      new URL(url).pathname.slice(1),
      `select nodeport as port from pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid
       where shardid = get_shard_id_for_distribution_column('issue', '${workspaceId}')`,
    );
    return this.#servers.findIndex(({ port }) => port === found?.port);
  }

  /** The numbers of the nodes; the coordinator is 0. */
  get indexes(): readonly number[] {
    return [...this.#servers.keys()];
  }

  /** The folder of the programs of PostgreSQL that have Citus. */
  get binaries(): string {
    return join(this.folder, 'usr/lib/postgresql', major, 'bin');
  }

  /** Whether a node runs; a full disk may have ended it. */
  isRunning(index: number): boolean {
    return this.#runs(this.#server(index));
  }

  /** Stops all processes of a node where they are: connections stay open, and nothing answers. */
  freeze(index: number): void {
    for (const pid of this.#pids(index)) signal(pid, 'SIGSTOP');
  }

  thaw(index: number): void {
    for (const pid of this.#pids(index).toReversed()) signal(pid, 'SIGCONT');
  }

  /** Starts a node, and waits until it answers. */
  start(index: number): void {
    this.#start(this.#server(index));
  }

  /** Starts a standby of a node, without which the node does not commit any more. */
  async addStandby(index: number): Promise<Standby> {
    const node = this.#server(index);
    const standby = { folder: `${node.folder}-standby`, port: await freePort() };
    const from = ['-h', '127.0.0.1', '-p', String(node.port), '-U', 'postgres'];
    this.#run('pg_basebackup', ['-D', dataOf(standby), ...from, '-R', '-c', 'fast', '--no-sync']);
    appendFileSync(join(dataOf(standby), 'postgresql.conf'), `port = ${standby.port}\n`);
    this.#start(standby);
    this.#standbys.push(standby);
    await this.#query(index, 'postgres', `alter system set synchronous_standby_names = '*'`);
    await this.#query(index, 'postgres', 'select pg_reload_conf()');
    return { of: index, server: standby, url: (database) => urlOf(standby, database) };
  }

  /**
   * Crashes a node, promotes its standby, and gives Citus the new port. `redirect` is called with the new port if the
   * node is the coordinator, to which clients connect.
   */
  async promote({ of, server }: Standby, database: string, redirect: (port: number) => void): Promise<void> {
    const { port } = this.#server(of);
    this.crash(of);
    this.#servers[of] = server;
    await this.#query(of, database, 'select pg_promote()');
    if (of === 0) redirect(server.port);
    await this.query(
      database,
      `select citus_update_node(nodeid, '127.0.0.1', ${server.port}) from pg_dist_node where nodeport = ${port}`,
    );
  }

  /** Ends all processes of a node without a checkpoint, as after a crash. */
  crash(index: number): void {
    this.#crash(this.#server(index));
  }

  /** Stops the nodes and standbys that run. */
  stop(): void {
    for (const server of new Set([...this.#servers, ...this.#standbys]))
      if (this.#runs(server)) this.#crash(server);
  }

  #runs(server: Server): boolean {
    return this.#try('pg_ctl', ['-D', dataOf(server), 'status']);
  }

  #crash(server: Server): void {
    this.#run('pg_ctl', ['-D', dataOf(server), '-m', 'immediate', 'stop']);
  }

  #start(server: Server): void {
    const data = dataOf(server);
    this.#run('pg_ctl', ['-D', data, '-w', '-l', join(data, 'log'), 'start']);
  }

  #init(server: Server): void {
    const data = dataOf(server);
    const options = ['-U', 'postgres', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8', '--no-sync'];
    this.#run('initdb', ['-D', data, ...options]);
    const settings = {
      listen_addresses: "'127.0.0.1'",
      unix_socket_directories: `'${this.folder}'`,
      port: server.port,
      max_connections: 300,
      max_prepared_transactions: 300,
      shared_buffers: '128MB',
      shared_preload_libraries: "'citus'",
      // Tests create and drop much, and the machine is small; the result does not depend on durability.
      fsync: 'off',
      'citus.shard_count': 8,
      'citus.enable_unsafe_triggers': 'on',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
  }

  #server(index: number): Server {
    const server = this.#servers[index];
    if (!server) throw new Error(`There is no node ${index}.`);
    return server;
  }

  /** The ids of the processes of a node, the postmaster first. */
  #pids(index: number): number[] {
    const [postmaster] = readFileSync(join(dataOf(this.#server(index)), 'postmaster.pid'), 'utf8').split(
      '\n',
    );
    return withChildren(Number(postmaster));
  }

  async #query<Row>(index: number, database: string, text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: urlOf(this.#server(index), database) });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  #run(program: string, args: readonly string[]): void {
    if (!this.#try(program, args)) throw new Error(`${program} ${args.join(' ')} failed`);
  }

  /** Runs a program of PostgreSQL, and returns whether it has succeeded. */
  #try(program: string, args: readonly string[]): boolean {
    const path = join(this.binaries, program);
    const [command, all] = isRoot ? ['runuser', ['-u', owner(), '--', path, ...args]] : [path, args];
    // The servers that pg_ctl starts would keep a pipe open.
    return spawnSync(command, all, { cwd: this.folder, stdio: 'ignore' }).status === 0;
  }
}

function dataOf({ folder }: Server): string {
  return join(folder, 'data');
}

function urlOf({ port }: Server, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

/** PostgreSQL finds its libraries and extensions relative to its program, so a copy of it has extensions of its own. */
function install(folder: string, builtTree: string): void {
  for (const part of ['lib', 'share']) {
    const from = join('/usr', part, 'postgresql', major);
    const to = join(folder, 'usr', part, 'postgresql', major);
    if (!existsSync(to)) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
  execFileSync('make', ['-C', builtTree, 'install', `DESTDIR=${folder}`], { stdio: 'ignore' });
}

/** PostgreSQL refuses to run as root, so root runs it as another user. */
function owner(): string {
  return spawnSync('id', ['postgres']).status === 0 ? 'postgres' : 'nobody';
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, owner()]));
}
