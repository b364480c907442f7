import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';

/** A server with the demo workspace, and a token for it. */
export interface Target {
  readonly service: Service;
  readonly token: string;
}

/** A measurement of one server. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  /** Whether the figure is within its bound; always true without a bound. */
  readonly holds: boolean;
}

export function demoTarget(service: Service): Target {
  return { service, token: readFileSync(join(service.dataDir, 'demo-token'), 'utf8').trim() };
}

export function graphql({ service, token }: Target, body: object, sent: { anonymous?: boolean } = {}) {
  const client = new Client(service.url, sent.anonymous ? undefined : token);
  return client
    .send({ method: 'POST', path: '/graphql', headers: { 'X-GraphQL-Cost': '1' }, body, withinMs: 120_000 })
    .finally(() => client.close());
}

/** The code of the error, or the status. */
export function outcome({ status, body }: Answer): string {
  const isRefusal = status >= 400 || body.startsWith('{"errors"');
  return (isRefusal && /"code":"([A-Za-z_]+)"/.exec(body)?.[1]) || String(status);
}

/** The requested and actual cost that an answer reports. */
export function costOf({ body }: Answer): { requested: number; actual: number } | undefined {
  const found = /"cost":\{"requested":(\d+),"actual":(\d+)/.exec(body.slice(-200));
  return found ? { requested: Number(found[1]), actual: Number(found[2]) } : undefined;
}

/** Runs work, and returns the longest time that the server took to answer a probe meanwhile. */
export async function stallDuring<Result>(
  { service }: Target,
  work: () => Promise<Result>,
): Promise<{ result: Result; stallMs: number }> {
  const client = new Client(service.url);
  const ending = new AbortController();
  let stallMs = 0;
  const probing = async () => {
    while (!ending.signal.aborted) {
      // The client reconnects after a reset.
      const answer = await client.send({ path: '/health' }).catch(() => undefined);
      stallMs = Math.max(stallMs, answer?.ms ?? 0);
      await delay(2);
    }
  };
  const probes = probing();
  await delay(50);
  const result = await work();
  ending.abort();
  await probes;
  client.close();
  return { result, stallMs };
}

/** The peak memory in MB of the server with its child processes while work runs. */
export async function memoryDuring<Result>(
  { service }: Target,
  work: () => Promise<Result>,
): Promise<{ result: Result; beforeMb: number; maxMb: number }> {
  const beforeMb = treeMb(service.pid);
  let maxMb = beforeMb;
  const timer = setInterval(() => {
    maxMb = Math.max(maxMb, treeMb(service.pid));
  }, 50);
  try {
    const result = await work();
    return { result, beforeMb, maxMb: Math.max(maxMb, treeMb(service.pid)) };
  } finally {
    clearInterval(timer);
  }
}

function treeMb(pid: number): number {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,rss='], { encoding: 'utf8' }).trim().split('\n');
  const processes = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const family = new Set([pid]);
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const [child = 0, parent = 0] of processes) if (family.has(parent)) family.add(child);
  }
  const kilobytes = processes.reduce((sum, [one = 0, , rss = 0]) => sum + (family.has(one) ? rss : 0), 0);
  return Math.round(kilobytes / 1_024);
}
