import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { quotasOf } from '../../src/server/limits/quotas.ts';
import { CrashLoop } from '../../src/server/workers/crash-loop.ts';
import { QuotaLeases } from '../../src/server/workers/quota-leases.ts';
import { Supervisor, type SupervisorOptions } from '../../src/server/workers/supervisor.ts';
import { EarlyExit, WorkerProcess } from '../../src/server/workers/worker-process.ts';
import { freePort } from '../support/ports.ts';
import { untilReplaced, workersOf } from '../faults/support/workers.ts';

// Workers without a database: how a supervisor handles processes and sockets does not depend on what they serve.
const script = join(import.meta.dirname, '../support/light-worker-process.ts');
const cannotStart = 'A worker ended at its start (exit code 3).';
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('a supervisor', () => {
  let folder: string;
  /** While this file exists, no worker can start. */
  let exitFile: string;
  let supervisor: Supervisor;
  let port: number;
  let url: string;
  let log: EventEmitter;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workgraph-supervisor-'));
    exitFile = join(folder, 'obstacle');
    log = new EventEmitter();
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    supervisor = newSupervisor();
  });

  afterEach(async () => {
    await supervisor.stop();
    rmSync(folder, { recursive: true });
  });

  function newSupervisor(options: Partial<SupervisorOptions> = {}): Supervisor {
    return new Supervisor({
      workers: 2,
      port,
      program: { script, args: [exitFile], env: process.env },
      quotas: new QuotaLeases(quotasOf({ requestsPerMinute: 1, costPerHour: 1 }), 2),
      logger: pino({}, { write: emitLine }),
      stopWithinMs: 10_000,
      crashes: new CrashLoop(1),
      ...options,
    });
  }

  function emitLine(line: string): void {
    log.emit((JSON.parse(line) as { msg: string }).msg);
    log.emit('line', line);
  }

  const workers = () => workersOf(process.pid, script);

  /** Sends a request over a new connection, and returns the pid of the worker that answered. */
  async function ask(agent = new Agent()): Promise<number> {
    return Number(await answerTo('/', agent));
  }

  async function answerTo(path: string, agent = new Agent()): Promise<string> {
    const sent = request(new URL(path, url), { agent });
    const response = once(sent, 'response') as Promise<[NodeJS.ReadableStream]>;
    sent.end();
    return text((await response)[0]);
  }

  it('loses no connection while its workers are replaced, however fast connections come', async () => {
    await supervisor.start();
    const finished = new AbortController();
    const pids = new Set<number>();
    const failures: unknown[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (!finished.signal.aborted) {
        await ask().then(
          (pid) => pids.add(pid),
          (error: unknown) => failures.push(error),
        );
      }
    });
    for (let round = 0; round < 5; round += 1) {
      const old = workers();
      supervisor.reload();
      await untilReplaced(workers, old);
    }
    finished.abort();
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(pids.size).toBeGreaterThanOrEqual(8);
  });

  it('tells all workers which caller has no objects left', async () => {
    await supervisor.start();
    await answerTo('/charge/token:1');
    const informedPids = new Set<string>();
    while (informedPids.size < 2) {
      const [pid = '', ...debts] = (await answerTo('/debts')).split(' ');
      if (debts.join(' ') === 'token:1 true') informedPids.add(pid);
    }
  });

  it('starts another worker whenever one dies', async () => {
    await supervisor.start();
    for (let death = 1; death < 8; death += 1) {
      const [victim = 0] = workers();
      const replaced = untilReplaced(workers, [victim]);
      process.kill(victim, 'SIGKILL');
      await replaced;
      const answeringPids = new Set<number>();
      while (answeringPids.size < 2) answeringPids.add(await ask());
      expect(answeringPids).toEqual(new Set(workers()));
    }
  });

  it('keeps the worker that is left while others cannot start, and starts them when they can', async () => {
    await supervisor.start();
    const [victim = 0, left] = workers();
    writeFileSync(exitFile, '');
    let attempts = 0;
    const attempted = Promise.withResolvers<void>();
    log.on(cannotStart, () => {
      attempts += 1;
      if (attempts === 6) attempted.resolve();
    });
    process.kill(victim, 'SIGKILL');
    const outcome = await Promise.race([attempted.promise, supervisor.failed.then(() => 'failed')]);
    expect(outcome).toBeUndefined();
    expect(await ask()).toBe(left);
    rmSync(exitFile);
    await untilReplaced(workers, [victim]);
  });

  it('starts with its first worker while others cannot start, and starts them when they can', async () => {
    writeFileSync(exitFile, 'others');
    await supervisor.start();
    const [first, ...others] = workers();
    expect(others).toEqual([]);
    expect(await ask()).toBe(first);
    rmSync(exitFile);
    const answeringPids = new Set<number>();
    while (answeringPids.size < 2) answeringPids.add(await ask());
    expect(answeringPids).toContain(first);
  });

  it('replaces its workers while it waits before it tries again to start one', async () => {
    supervisor = newSupervisor({ crashes: new CrashLoop(30_000) });
    await supervisor.start();
    let attempts = 0;
    log.on(cannotStart, () => {
      attempts += 1;
    });
    const attempted = once(log, cannotStart);
    const replacing = once(log, 'replacing all workers');
    writeFileSync(exitFile, '');
    process.kill(workers()[0] ?? 0, 'SIGKILL');
    await attempted;
    supervisor.reload();
    await replacing;
    expect(attempts).toBe(1);
  });

  it('kills a worker that hangs, starts another one, and lets the other one lead', async () => {
    supervisor = newSupervisor({ beat: { everyMs: 100, unanswered: 30 } });
    await supervisor.start();
    let leader = 0;
    while (leader === 0) {
      const [pid, leads] = (await answerTo('/leads')).split(' ');
      if (leads === 'true') leader = Number(pid);
    }
    const killed = once(log, 'a worker does not answer, so it is killed');
    process.kill(leader, 'SIGSTOP');
    await killed;
    await untilReplaced(workers, [leader]);
    const answers = new Map<string, string>();
    while (answers.size < 2) {
      const [pid = '', leads = ''] = (await answerTo('/leads')).split(' ');
      answers.set(pid, leads);
    }
    expect(answers.has(String(leader))).toBe(false);
    expect([...answers.values()].toSorted()).toEqual(['false', 'true']);
  });

  it('treats a worker that does not read its messages as hanging, and stops sending', async () => {
    let hangs = 0;
    const worker = new WorkerProcess({
      program: { script, args: [exitFile], env: process.env },
      start: { number: 1, workers: 1, port, isFirst: true },
      onMessage: () => undefined,
      onHang: () => {
        hangs += 1;
      },
    });
    await worker.prepared;
    process.kill(worker.pid ?? 0, 'SIGSTOP');
    for (let sent = 0; sent < 100_000; sent += 1) worker.send({ kind: 'gap' });
    expect(hangs).toBe(1);
    worker.kill();
    await worker.exited;
  });

  it('fails when no worker is left and none can start', async () => {
    await supervisor.start();
    writeFileSync(exitFile, '');
    for (const worker of workers()) process.kill(worker, 'SIGKILL');
    await supervisor.failed;
  });

  it('keeps its workers when their replacements cannot start', async () => {
    await supervisor.start();
    const old = workers();
    writeFileSync(exitFile, '');
    const attempted = once(log, 'a worker could not be replaced; the others continue');
    supervisor.reload();
    await attempted;
    expect(workers()).toEqual(old);
    expect(old).toContain(await ask());
    rmSync(exitFile);
    supervisor.reload();
    await untilReplaced(workers, old);
  });

  /** Makes every start of a process fail until the end of the test, in the way that this path causes. */
  function withoutExecutable(cleanup: DisposableStack, path: string): void {
    const { execPath } = process;
    process.execPath = path;
    cleanup.defer(() => {
      process.execPath = execPath;
    });
  }

  it.each([
    ['later', '/nowhere/node', 'spawn /nowhere/node ENOENT'],
    ['at once', '/nowhere/\0', 'must be a string without null bytes'],
  ])(
    'continues when the system refuses a process %s, and starts workers when it can',
    async (_, path, why) => {
      await supervisor.start();
      const [victim = 0, left = 0] = workers();
      let attempts = 0;
      const [attempted, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      log.on('line', (line: string) => {
        if (!line.includes(why)) return;
        if (line.includes('could not be replaced')) refused.resolve();
        attempts += 1;
        if (attempts === 6) attempted.resolve();
      });
      {
        using cleanup = new DisposableStack();
        withoutExecutable(cleanup, path);
        supervisor.reload();
        await refused.promise;
        process.kill(victim, 'SIGKILL');
        const outcome = await Promise.race([attempted.promise, supervisor.failed.then(() => 'failed')]);
        expect(outcome).toBeUndefined();
        expect(await ask()).toBe(left);
      }
      await untilReplaced(workers, [victim]);
    },
  );

  it('does not start when the system refuses a process, and says why', async () => {
    using cleanup = new DisposableStack();
    withoutExecutable(cleanup, '/nowhere/node');
    const logged = once(log, 'A worker ended at its start (spawn /nowhere/node ENOENT).');
    await expect(supervisor.start()).rejects.toThrow(EarlyExit);
    await logged;
  });

  it('does not start when a worker cannot', async () => {
    writeFileSync(exitFile, '');
    await expect(supervisor.start()).rejects.toThrow(EarlyExit);
  });
});
