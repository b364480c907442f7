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
import { freePort } from '../faults/support/ports.ts';
import { untilReplaced, workersOf } from '../faults/support/workers.ts';

// Workers without a database: what a supervisor does with processes and sockets does not depend on what they serve.
const script = join(import.meta.dirname, '../support/light-worker-process.ts');
const cannotStart = 'A worker ended at its start (exit code 3).';
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('a supervisor', () => {
  let folder: string;
  /** While this file exists, no worker can start. */
  let obstacle: string;
  let supervisor: Supervisor;
  let port: number;
  let url: string;
  let log: EventEmitter;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workgraph-supervisor-'));
    obstacle = join(folder, 'obstacle');
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
      program: { script, args: [obstacle], env: process.env },
      quotas: new QuotaLeases(quotasOf({ requestsPerMinute: 1, costPerHour: 1 }), 2),
      logger: pino({}, { write: noteLine }),
      stopWithinMs: 10_000,
      crashes: new CrashLoop(1),
      ...options,
    });
  }

  function noteLine(line: string): void {
    log.emit((JSON.parse(line) as { msg: string }).msg);
    log.emit('line', line);
  }

  const workers = () => workersOf(process.pid, script);

  /** Asks on a new connection, and returns the pid of the worker that answered. */
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
    const over = new AbortController();
    const pids = new Set<number>();
    const failures: unknown[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
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
    over.abort();
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(pids.size).toBeGreaterThanOrEqual(8);
  });

  it('tells all workers which caller has no objects left', async () => {
    await supervisor.start();
    await answerTo('/charge/token:1');
    const told = new Set<string>();
    while (told.size < 2) {
      const [pid = '', ...debts] = (await answerTo('/debts')).split(' ');
      if (debts.join(' ') === 'token:1 true') told.add(pid);
    }
  });

  it('starts another worker whenever one dies', async () => {
    await supervisor.start();
    for (let death = 1; death < 8; death += 1) {
      const [victim = 0] = workers();
      const replaced = untilReplaced(workers, [victim]);
      process.kill(victim, 'SIGKILL');
      await replaced;
      const answering = new Set<number>();
      while (answering.size < 2) answering.add(await ask());
      expect(answering).toEqual(new Set(workers()));
    }
  });

  it('keeps the worker that is left while others cannot start, and starts them when they can', async () => {
    await supervisor.start();
    const [victim = 0, left] = workers();
    writeFileSync(obstacle, '');
    let tries = 0;
    const tried = Promise.withResolvers<void>();
    log.on(cannotStart, () => {
      tries += 1;
      if (tries === 6) tried.resolve();
    });
    process.kill(victim, 'SIGKILL');
    const outcome = await Promise.race([tried.promise, supervisor.failed.then(() => 'failed')]);
    expect(outcome).toBeUndefined();
    expect(await ask()).toBe(left);
    rmSync(obstacle);
    await untilReplaced(workers, [victim]);
  });

  it('starts with its first worker while others cannot start, and starts them when they can', async () => {
    writeFileSync(obstacle, 'others');
    await supervisor.start();
    const [first, ...others] = workers();
    expect(others).toEqual([]);
    expect(await ask()).toBe(first);
    rmSync(obstacle);
    const answering = new Set<number>();
    while (answering.size < 2) answering.add(await ask());
    expect(answering).toContain(first);
  });

  it('replaces its workers while it waits before it tries again to start one', async () => {
    supervisor = newSupervisor({ crashes: new CrashLoop(30_000) });
    await supervisor.start();
    let tries = 0;
    log.on(cannotStart, () => {
      tries += 1;
    });
    const tried = once(log, cannotStart);
    const replacing = once(log, 'replacing all workers');
    writeFileSync(obstacle, '');
    process.kill(workers()[0] ?? 0, 'SIGKILL');
    await tried;
    supervisor.reload();
    await replacing;
    expect(tries).toBe(1);
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
      program: { script, args: [obstacle], env: process.env },
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
    writeFileSync(obstacle, '');
    for (const worker of workers()) process.kill(worker, 'SIGKILL');
    await supervisor.failed;
  });

  it('keeps its workers when their replacements cannot start', async () => {
    await supervisor.start();
    const old = workers();
    writeFileSync(obstacle, '');
    const tried = once(log, 'a worker could not be replaced; the others continue');
    supervisor.reload();
    await tried;
    expect(workers()).toEqual(old);
    expect(old).toContain(await ask());
    rmSync(obstacle);
    supervisor.reload();
    await untilReplaced(workers, old);
  });

  /** Lets the system start no process until the end of the test, whichever way it refuses. */
  function withoutExecutable(ending: DisposableStack, path: string): void {
    const { execPath } = process;
    process.execPath = path;
    ending.defer(() => {
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
      let tries = 0;
      const [tried, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      log.on('line', (line: string) => {
        if (!line.includes(why)) return;
        if (line.includes('could not be replaced')) refused.resolve();
        tries += 1;
        if (tries === 6) tried.resolve();
      });
      {
        using ending = new DisposableStack();
        withoutExecutable(ending, path);
        supervisor.reload();
        await refused.promise;
        process.kill(victim, 'SIGKILL');
        const outcome = await Promise.race([tried.promise, supervisor.failed.then(() => 'failed')]);
        expect(outcome).toBeUndefined();
        expect(await ask()).toBe(left);
      }
      await untilReplaced(workers, [victim]);
    },
  );

  it('does not start when the system refuses a process, and says why', async () => {
    using ending = new DisposableStack();
    withoutExecutable(ending, '/nowhere/node');
    const said = once(log, 'A worker ended at its start (spawn /nowhere/node ENOENT).');
    await expect(supervisor.start()).rejects.toThrow(EarlyExit);
    await said;
  });

  it('does not start when a worker cannot', async () => {
    writeFileSync(obstacle, '');
    await expect(supervisor.start()).rejects.toThrow(EarlyExit);
  });
});
