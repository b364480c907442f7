import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../test/support/ports.ts';
import type { Contender } from './contenders/contender.ts';
import { token } from './dataset/fill.ts';

/** A running contender that answers requests. */
export interface RunningContender {
  readonly contender: Contender;
  readonly port: number;
  readonly pid: number;
  /** The time from the start of the process to its first answer. */
  readonly startedMs: number;
  stop(): Promise<void>;
}

const startWithinMs = 120_000;

export async function start(contender: Contender, databaseUrl: string): Promise<RunningContender> {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-bench-'));
  const port = await freePort();
  const { args, env } = await contender.command({ databaseUrl, port, token, directory });
  const log = join(directory, 'log');
  const output = openSync(log, 'a');
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await once(child, 'exit');
      clearTimeout(timer);
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(child, port, contender.readyPath ?? '/health');
  } catch (error) {
    const lastOutput = readFileSync(log, 'utf8').slice(-2_000);
    await stop();
    throw new Error(`${contender.title} did not start: ${String(error)}\n${lastOutput}`, { cause: error });
  }
  return { contender, port, pid: child.pid ?? 0, startedMs: performance.now() - began, stop };
}

async function waitUntilReady(child: ChildProcess, port: number, path: string): Promise<void> {
  const until = performance.now() + startWithinMs;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}`);
    try {
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`);
      if (status < 500) return;
    } catch {
      // The server is not listening yet.
    }
    await delay(10);
  }
  throw new Error('it does not answer');
}
