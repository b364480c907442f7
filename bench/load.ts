import { cpuMs, databaseCpuMs, residentMb } from './cpu.ts';
import type { Facts } from './facts.ts';
import { type Answer, Connection, type Request } from './http/connection.ts';
import type { RunningContender } from './process.ts';
import { Random } from './random.ts';
import { workloadOf } from './workloads/all.ts';
import type { Workload } from './workloads/workload.ts';

export const connections = 16;

/** The measurements of a contender in a period of time. */
export interface Sample {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytes: number;
  readonly serverCpuMs: number;
  /** CPU time of the database per request; NaN if the database is not on this machine. */
  readonly databaseCpuMs: number;
  readonly residentMb: number;
  /** The number of requests that were refused or failed. They are not included in the other measurements. */
  readonly failed: number;
}

/** The maximum share of failed requests; with more, the measurement is meaningless. */
const maxFailedShare = 0.01;

export interface Turn {
  readonly seconds: number;
  /** Determines which rows are read and written: the same for all contenders of a round. */
  readonly seed: number;
  /** The number of the turn, which determines the values that are written. No other turn has it. */
  readonly turn: number;
  readonly postmaster: number | undefined;
  /** In a warm-up requests may fail, because the server has just started. */
  readonly isWarmUp?: boolean;
}

/**
 * Sends requests of a workload for a while on all connections. Each connection sends the next request after the answer.
 */
export async function measure(
  running: RunningContender,
  workload: Workload,
  facts: Facts,
  { seconds, seed, turn, postmaster, isWarmUp = false }: Turn,
): Promise<Sample> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(running.port)));
  const tally: Tally = { latencies: [], bytes: 0, failures: [] };
  const databaseCpu = () => (postmaster === undefined ? Number.NaN : databaseCpuMs(postmaster));
  const before = { server: cpuMs(running.pid), database: databaseCpu() };
  const began = performance.now();
  const until = began + seconds * 1_000;
  try {
    await Promise.all(
      open.map((connection, index) =>
        sendUntil(
          until,
          connection,
          nextRequests(running, workload, facts, {
            rows: seed * connections + index,
            values: valuesFrom + turn * connections + index,
          }),
          tally,
        ),
      ),
    );
  } finally {
    for (const connection of open) connection.close();
  }
  const elapsed = performance.now() - began;
  const count = tally.latencies.length;
  const { failures } = tally;
  if (!isWarmUp && failures.length > (count + failures.length) * maxFailedShare) {
    throw new Error(
      `${running.contender.title} fails ${failures.length} of ${count + failures.length} requests`,
      { cause: failures[0] },
    );
  }
  const sorted = Float64Array.from(tally.latencies).sort();
  return {
    perSecond: (count / elapsed) * 1_000,
    p50Ms: sorted[Math.floor(count * 0.5)] ?? Number.NaN,
    p99Ms: sorted[Math.floor(count * 0.99)] ?? Number.NaN,
    bytes: tally.bytes / count,
    serverCpuMs: (cpuMs(running.pid) - before.server) / count,
    databaseCpuMs: (databaseCpu() - before.database) / count,
    residentMb: residentMb(running.pid),
    failed: failures.length,
  };
}

interface Tally {
  latencies: number[];
  bytes: number;
  failures: unknown[];
}

async function sendUntil(
  until: number,
  connection: Connection,
  next: () => Request,
  tally: Tally,
): Promise<void> {
  for (let now = performance.now(); now < until; ) {
    const request = next();
    const sent = performance.now();
    const answer = await connection.send(request);
    now = performance.now();
    try {
      refuseFailure(request, answer);
      tally.latencies.push(now - sent);
      tally.bytes += answer.wireBytes;
    } catch (failure) {
      tally.failures.push(failure);
    }
  }
}

/** Far from the seeds of rows, so that no connection has the same generator for both. */
const valuesFrom = 1_000_000;

/** The requests of a connection. Their inputs come from seeded generators: that of the rows is the same for all contenders. */
export function nextRequests(
  running: RunningContender,
  workload: Workload,
  facts: Facts,
  seeds: { readonly rows: number; readonly values: number },
): () => Request {
  const random = new Random(seeds.rows);
  const values = new Random(seeds.values);
  const { mix } = workload;
  const deck =
    mix &&
    Object.entries(mix).flatMap(([id, weight]) => Array.from({ length: weight }, () => workloadOf(id)));
  return () => {
    const { id, input } = deck ? random.pick(deck) : workload;
    const request = running.contender.request(id, input(random, facts, values));
    if (!request) throw new Error(`${running.contender.name} has no ${id}.`);
    return request;
  };
}

/**
 * Throws if a request failed: failures must not count, because they are often fast. Of a long answer, only its start
 * and end are examined.
 */
export function refuseFailure(request: Request, { status, body }: Answer): void {
  const text =
    body.length < 4_096
      ? body.toString()
      : body.toString('latin1', 0, 100) + body.toString('latin1', body.length - 1_000);
  if (status >= 200 && status < 300 && !text.includes('"errors":[') && body.length > 0) return;
  throw new Error(
    `${request.method} ${request.path} was answered ${status}: ${text.slice(0, 1_000)}\n${request.body ?? ''}`,
  );
}
