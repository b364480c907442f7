import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../test/support/ports.ts';
import { openCluster } from '../cluster.ts';
import { Connection } from '../http/connection.ts';

export type Engine = 'postgres' | 'embedded';

/** A server with the demo workspace. */
export interface Server {
  readonly port: number;
  /** The samples of its metrics, by name and labels in the Prometheus text format. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  /** Its resident memory in MB. */
  memoryMb(): Promise<number>;
}

/** A server with the demo workspace, and the credentials of a client. */
export interface DemoServer extends Server {
  readonly token: string;
  readonly teamId: string;
  /** Starts another server on the same database; fails on the embedded engine. */
  startAnother(): Promise<Server>;
  /** Runs a GraphQL operation; throws its errors. */
  graphql(query: string, variables?: object): Promise<Record<string, never>>;
  stop(): Promise<void>;
}

const script = join(import.meta.dirname, '../../bin/workgraph.js');

export async function startDemoServer(
  engine: Engine,
  settings: Readonly<Record<string, string>> = {},
): Promise<DemoServer> {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-live-'));
  const cleanups: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const cleanUp of cleanups.toReversed()) await cleanUp();
  };
  try {
    const databaseUrl = engine === 'postgres' ? await emptyDatabase(cleanups) : undefined;
    const start = () => startServer({ directory, databaseUrl, settings }, cleanups);
    const server = await start();
    const token = readFileSync(join(directory, 'demo-token'), 'utf8').trim();
    const connection = await Connection.open(server.port);
    cleanups.push(() => connection.close());
    const graphql: DemoServer['graphql'] = async (query, variables = {}) => {
      const { body } = await connection.send({
        method: 'POST',
        path: '/graphql',
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = JSON.parse(String(body)) as { data: Record<string, never>; errors?: unknown };
      if (errors) throw new Error(JSON.stringify(errors));
      return data;
    };
    const { teams } = (await graphql('{ teams(first: 1) { nodes { id } } }')) as unknown as {
      teams: { nodes: [{ id: string }] };
    };
    return { ...server, token, teamId: teams.nodes[0].id, startAnother: start, graphql, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the URL of an empty database. */
async function emptyDatabase(cleanups: (() => unknown)[]): Promise<string> {
  const cluster = await openCluster({ fresh: false, database: 'bench_live' });
  cleanups.push(() => cluster.stop());
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  await client.query('drop schema public cascade; create schema public');
  await client.end();
  return cluster.url;
}

async function startServer(
  {
    directory,
    databaseUrl,
    settings,
  }: {
    directory: string;
    databaseUrl: string | undefined;
    settings: Readonly<Record<string, string>>;
  },
  cleanups: (() => unknown)[],
): Promise<Server> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  // The same heap limits as in `npm start`.
  const flags = ['--max-semi-space-size=16', '--max-old-space-size=512'];
  const profile = process.env['BENCH_PROFILE'];
  const profiled = profile ? ['--cpu-prof', '--cpu-prof-dir', profile] : [];
  const log = join(directory, `log-${port}`);
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, [...flags, ...profiled, script, 'serve', '--migrate', '--demo'], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      DATA_DIR: directory,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      PORT: String(port),
      METRICS_ADDRESS: String(metricsPort),
      LOG_LEVEL: process.env['BENCH_LOG'] ?? 'error',
      // A single client makes all requests.
      REQUESTS_PER_MINUTE: '1000000000',
      COST_PER_HOUR: '1000000000',
      STREAMS_PER_TOKEN: '20000',
      ...settings,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  cleanups.push(async () => {
    const exit = once(child, 'exit');
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await exit;
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null)
      throw new Error(`The server ended: ${readFileSync(log, 'utf8').slice(-2_000)}`);
    await delay(50);
  }
  const metrics = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const samples = text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm);
    return new Map(Array.from(samples, ([, name = '', value]) => [name, Number(value)]));
  };
  const memoryMb = async () => ((await metrics()).get('process_resident_memory_bytes') ?? Number.NaN) / 1e6;
  return { port, metrics, memoryMb };
}
