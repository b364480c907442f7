import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../test/faults/support/client.ts';
import { ms, quantile } from '../../test/faults/support/fault.ts';
import { Ledger } from '../../test/faults/support/ledger.ts';
import { Service } from '../../test/faults/support/service.ts';
import { makeWorld, withDatabase, type World } from '../../test/faults/support/world.ts';
import { Writers } from '../../test/faults/support/writers.ts';
import { repository } from '../repository.ts';
import type { Nodes } from './nodes.ts';

/** Longer than a statement may take. */
const frozenMs = 10_000;
/** Twice what `npm run faults` allows on an idle machine. */
const maxAnswerMs = 12_000;

/** The results of the faults, and whether all acknowledged writes were kept. */
export interface FaultResult {
  readonly name: string;
  readonly words: string;
  readonly isSurvived: boolean;
}

/** Runs one fault in its short form on an empty distributed database. */
export function runFaultOn(name: string, databaseUrl: string, binaries: string): FaultResult {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(repository, 'test/faults/main.ts'), '--short', name],
    {
      env: { ...process.env, FAULTS_DATABASE_URL: databaseUrl, FAULTS_POSTGRES_BINARIES: binaries },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines = stdout.split('\n').filter((line) => line.startsWith(`${name}: `));
  const words = lines.map((line) => line.slice(name.length + 2)).join('; ');
  return { name, words, isSurvived: status === 0 };
}

/**
 * Crashes each node in turn while sixteen clients write, and starts it again. Each acknowledged write must be there exactly once. A
 * transaction over two nodes that was prepared holds its locks until Citus ends it.
 */
export async function crashNodes(nodes: Nodes, url: string, inFolder: string): Promise<FaultResult> {
  const name = 'nodes-crashed';
  return whileWriting(name, url, inFolder, async ({ writers }) => {
    const returns: number[] = [];
    for (const index of [...nodes.indexes, ...nodes.indexes]) {
      await writers.acknowledgement();
      await delay(100 + Math.random() * 400);
      nodes.crash(index);
      await delay(200);
      nodes.start(index);
      const began = performance.now();
      await writers.acknowledgement();
      returns.push(performance.now() - began);
    }
    return {
      words: `acknowledged again after p50 ${ms(quantile(returns, 0.5))}, at most ${ms(Math.max(...returns))}`,
      failures: [],
    };
  });
}

/**
 * Freezes each node in turn while clients read and write: connections stay open, and nothing answers. Each request must be answered
 * all the same, and all goes on when the node does.
 */
export async function freezeNodes(nodes: Nodes, url: string, inFolder: string): Promise<FaultResult> {
  const name = 'nodes-frozen';
  return whileWriting(name, url, inFolder, async ({ writers, service, world }) => {
    const answers: ProbeResult[] = [];
    const probes: ProbeResult[] = [];
    const returns: number[] = [];
    const ofNodes: string[] = [];
    const holder = await nodes.holderOf(url, world.workspaceId);
    for (const index of nodes.indexes) {
      await writers.acknowledgement();
      const acknowledgedBefore = writers.ledger.acknowledged;
      const readBefore = answers.length;
      nodes.freeze(index);
      try {
        const until = performance.now() + frozenMs;
        const reading = Array.from({ length: 8 }, () =>
          probeUntil(service.url, world.token, '/v1/issues?page_size=5', until),
        );
        const [probed, ...read] = await Promise.all([
          probeUntil(service.url, undefined, '/health', until),
          ...reading,
        ]);
        probes.push(...probed);
        answers.push(...read.flat());
      } finally {
        nodes.thaw(index);
      }
      const which =
        index === 0 ? 'coordinator' : index === holder ? 'the worker with the rows' : 'the other worker';
      const of = (status: number) => answers.slice(readBefore).filter((one) => one.status === status).length;
      const acknowledged = writers.ledger.acknowledged - acknowledgedBefore;
      ofNodes.push(`${which}: ${acknowledged} writes acknowledged, reads ${of(200)} × 200, ${of(503)} × 503`);
      const began = performance.now();
      await writers.acknowledgement();
      returns.push(performance.now() - began);
    }
    const longest = Math.max(...answers.map((answer) => answer.ms), ...writers.refusals.map(({ ms }) => ms));
    const odd = answers.filter(({ status }) => status !== 200 && status !== 503);
    const unhealthy = probes.filter(({ status }) => status !== 200);
    const failures = [
      ...odd.map(({ status }) => `a read was answered ${status}`),
      ...unhealthy.map(({ status }) => `/health was answered ${status}`),
      ...(writers.hung > 0 ? [`${writers.hung} writes hung`] : []),
      ...(longest > maxAnswerMs ? [`an answer took ${ms(longest)}`] : []),
    ];
    return {
      words:
        `${ofNodes.join('; ')}; the longest answer ${ms(longest)}; ` +
        `acknowledged again after at most ${ms(Math.max(...returns))}`,
      failures,
    };
  });
}

interface ProbeResult {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly ms: number;
}

/** Sends a request, and another 100 ms after each answer, until the time `until` of `performance.now()`. */
async function probeUntil(
  url: string,
  token: string | undefined,
  path: string,
  until: number,
): Promise<ProbeResult[]> {
  const client = new Client(url, token);
  const answers: ProbeResult[] = [];
  while (performance.now() < until) {
    const began = performance.now();
    const answer = await client.send({ path, withinMs: 40_000 }).catch(() => undefined);
    answers.push({ status: answer?.status ?? 0, ms: performance.now() - began });
    await delay(100);
  }
  client.close();
  return answers;
}

/** What there is while sixteen clients write. */
export interface Scene {
  readonly service: Service;
  readonly writers: Writers;
  readonly world: World;
}

/**
 * Does something to a database while sixteen clients write to it, and checks that each acknowledged write is there exactly once and that
 * the server went on.
 */
export async function whileWriting(
  name: string,
  url: string,
  inFolder: string,
  work: (scene: Scene) => Promise<{ words: string; failures: readonly string[] }>,
  env: Readonly<Record<string, string>> = {},
): Promise<FaultResult> {
  const folder = mkdtempSync(join(inFolder, 'fault-'));
  const location = { url };
  const world = await makeWorld(location);
  const service = await Service.prepare({ folder, databaseUrl: url, env });
  try {
    await service.start();
    const { pid } = service;
    const writers = new Writers({ url: service.url, world, ledger: new Ledger() });
    await writers.acknowledgement();
    const { words, failures: found } = await work({ service, writers, world });
    await writers.stop();
    const wrong = await withDatabase(location, (database) => writers.ledger.check(database, world));
    const exits = service.isRunning && service.pid === pid ? 0 : 1;
    const failures = [...new Set([...found, ...wrong, ...writers.unexpected])].slice(0, 10);
    return {
      name,
      words: [
        `${writers.ledger.acknowledged} writes acknowledged, ${wrong.length} lost, doubled or broken`,
        `${statuses(writers)} refused; ${exits} exits of the server`,
        words,
        ...failures,
      ].join('; '),
      isSurvived: failures.length === 0 && exits === 0,
    };
  } finally {
    await service.end('SIGKILL');
  }
}

/** How often writes were refused with each status. */
function statuses({ refusals }: Writers): string {
  const counts = new Map<number, number>();
  for (const { status } of refusals) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ') || 'none';
}
