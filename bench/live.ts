import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

// `npm run bench -- --live`: how soon many live lists hear of a change, and what they cost while nothing happens. It starts a
// server of its own with the demo on the embedded engine.

const { values } = parseArgs({
  options: {
    live: { type: 'boolean' },
    streams: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '8' },
    port: { type: 'string', default: '4571' },
  },
});
const streams = Number(values.streams);
const url = `http://127.0.0.1:${values.port}`;
const metricsPort = Number(values.port) + 1;

const dataDir = await mkdtemp(join(tmpdir(), 'bench-live-'));
const server = spawn(process.execPath, [join(import.meta.dirname, '../bin/workgraph.js'), 'serve'], {
  env: {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: values.port,
    METRICS_ADDRESS: String(metricsPort),
    STREAMS_PER_TOKEN: String(2 * streams + 1),
    COST_PER_HOUR: '1000000000',
    REQUESTS_PER_MINUTE: '1000000',
  },
  stdio: 'ignore',
});

/** How many events have come since the last change, and when, on the clock of `performance`. */
let arrivals: number[] = [];
let isComplete: () => void = () => undefined;

try {
  while (!(await isReady())) await delay(200);
  const token = (await readFile(join(dataDir, 'demo-token'), 'utf8')).trim();
  for (const kind of ['equal', 'different'] as const) await measure(kind, token);
} finally {
  server.kill();
  await once(server, 'exit');
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(kind: 'equal' | 'different', token: string): Promise<void> {
  const before = await processMetrics();
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  for (let from = 0; from < streams; from += 10) {
    const count = Math.min(10, streams - from);
    await Promise.all(Array.from({ length: count }, (_, place) => open(kind, from + place, token, agent)));
  }
  const { data } = await ask<{ teams: { nodes: { id: string }[] } }>(
    token,
    '{ teams(first: 1) { nodes { id } } }',
  );
  const lags: number[] = [];
  for (let change = 0; change < Number(values.changes); change += 1) {
    arrivals = [];
    const all = new Promise<void>((resolve) => (isComplete = resolve));
    await ask(token, 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id } } }', {
      input: { teamId: data.teams.nodes[0]?.id, title: 'To all', priority: 'URGENT' },
    });
    const atMs = performance.now();
    await Promise.race([all, delay(10_000)]);
    if (arrivals.length < streams) throw new Error(`${arrivals.length} of ${streams} streams heard of it.`);
    lags.push(Math.round(Math.max(...arrivals) - atMs));
    await delay(300);
  }
  const idle = await processMetrics();
  await delay(10_000);
  const after = await processMetrics();
  const cpu = ((after.cpuSeconds - idle.cpuSeconds) / 10) * 100;
  console.log(
    `${streams} ${kind} live lists: last socket after ${lags.toSorted((a, b) => a - b).join(', ')} ms; idle ${cpu.toFixed(1)} % of a core, ${Math.round((after.bytes - before.bytes) / 1e6)} MB`,
  );
  agent.destroy();
  await delay(1_000);
}

/** Opens a live list; a filter of its own where they are to be different. */
function open(kind: 'equal' | 'different', place: number, token: string, agent: Agent): Promise<void> {
  const own = kind === 'equal' ? {} : { not: { estimateValue: { eq: 1_000 + place } } };
  const body = JSON.stringify({
    query:
      'subscription ($filter: IssueFilter) { issues(filter: $filter) { kind issue { key title status { name } } } }',
    variables: { filter: { priority: { eq: 'URGENT' }, ...own } },
  });
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: 'text/event-stream',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/graphql`, { agent, method: 'POST', headers }, (response) => {
      if (response.statusCode !== 200)
        return reject(new Error(`A stream was refused: ${response.statusCode}`));
      response.on('data', (bytes: Buffer) => {
        if (!bytes.includes('event: next')) return;
        arrivals.push(performance.now());
        if (arrivals.length >= streams) isComplete();
      });
      // A stream breaks off when its agent is destroyed.
      response.on('error', () => undefined);
      resolve();
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

async function ask<Data>(token: string, query: string, variables: object = {}): Promise<{ data: Data }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as { data: Data };
}

async function isReady(): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function processMetrics(): Promise<{ bytes: number; cpuSeconds: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { bytes: value('process_resident_memory_bytes'), cpuSeconds: value('process_cpu_seconds_total') };
}
