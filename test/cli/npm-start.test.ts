import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { lockDataDirectory } from '../../src/db/engine/directory-lock.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { isAlive } from '../support/processes.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { oldNode, outsideOfNpm } from './outside-npm.ts';
import { workgraph } from './workgraph.ts';
import { hasServer } from '../db/engines.ts';

const repository = join(import.meta.dirname, '../..');
const script = join(repository, 'bin/workgraph.js');
/** The environment that npm sets for a script. */
const fromNpm = { npm_lifecycle_event: 'start', npm_package_name: 'workgraph' };
// These servers have the embedded database, whatever the other tests run on, so they are started in one of the two runs.
const onEmbedded = hasServer ? describe.skip : describe;
let dataDir: string | undefined;
let children: ChildProcess[];
let servers: number[];

beforeEach(() => {
  dataDir = undefined;
  children = [];
  servers = [];
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const pid of servers) kill(pid);
  if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
});

async function newDataDir(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-npm-'));
  await copyIntoDirectory('migrated', directory);
  return directory;
}

function kill(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

interface Started {
  /** The process that was started, such as npm. */
  child: ChildProcess;
  /** The pid of the server, which is that of a descendant. */
  server: number;
  url: string;
  directory: string;
  /** All messages so far. */
  messages: () => string;
}

/** Starts a server in some way, and waits until it is ready. Calls `whenWaiting` when it begins to wait for another server. */
async function startBy(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
  whenWaiting?: () => void,
): Promise<Started> {
  const directory = env.DATA_DIR ?? (dataDir = await newDataDir());
  const child = spawn(command, args, {
    cwd: repository,
    env: { ...outsideOfNpm(), PORT: '0', DATA_DIR: directory, DRAIN_MS: '100', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [messages, log] = ['', ''];
  child.stderr.on('data', (chunk) => {
    const isWaiting = messages.includes('is stopping');
    messages += String(chunk);
    if (!isWaiting && messages.includes('is stopping')) whenWaiting?.();
  });
  child.stdout.on('data', (chunk) => (log += String(chunk)));
  for (;;) {
    const ready = /^\{.*"workgraph is ready at .*\}$/m.exec(log)?.[0];
    if (ready !== undefined) {
      const { url } = JSON.parse(ready) as { url: string };
      const server = Number.parseInt(readFileSync(join(directory, 'lock.pid'), 'utf8'), 10);
      servers.push(server);
      return { child, server, url, directory, messages: () => messages };
    }
    if (child.exitCode !== null) throw new Error(`It ended before it was ready: ${messages}`);
    await delay(20);
  }
}

async function ended({ server }: Started): Promise<void> {
  await eventually(() => !isAlive(server));
}

/** Waits until a server says that it is stopping. */
async function untilNotReady({ url }: Started): Promise<void> {
  let status = 200;
  await eventually(async () => {
    ({ status } = await fetch(`${url}/readyz`));
    return status !== 200;
  });
  expect(status).toBe(503);
}

/** Ends a server that is stopping, by repeated signals. The first ones may count as the one that made it stop. */
async function endNow({ server }: Started): Promise<void> {
  await eventually(() => {
    if (!isAlive(server)) return true;
    process.kill(server, 'SIGTERM');
    return false;
  });
}

const shells = ['dash', 'bash'].flatMap((name) => {
  const found = spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim();
  return found === '' ? [] : [[name, found] as const];
});

onEmbedded('npm start', () => {
  it.each(shells)('ends the server when npm alone gets SIGTERM, under %s', async (_name, shell) => {
    const started = await startBy('npm', ['start', `--script-shell=${shell}`, '--', '--no-demo']);
    expect(started.server).not.toBe(started.child.pid);
    process.kill(started.child.pid as number, 'SIGTERM');
    await ended(started);
    // The server has let go of the directory as at any stop.
    lockDataDirectory(started.directory).release();
    await expect(fetch(started.url)).rejects.toThrow('fetch failed');
  });

  it('lets the server drain when the shell is killed in which npm has started it', async () => {
    const started = await startBy('/bin/sh', ['-c', `${process.execPath} ${script} serve --no-demo; true`], {
      ...fromNpm,
      // So that even a slow machine is asked for its readiness meanwhile.
      DRAIN_MS: longestDrainMs,
    });
    expect(parentOf(started.server)).toBe(started.child.pid);
    started.child.kill('SIGKILL');
    await untilNotReady(started);
    await endNow(started);
  });
});

function parentOf(pid: number): number {
  const parent = Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout);
  // A signal to 0 would go to the whole group of this process.
  if (!(parent > 1)) throw new Error(`The process ${pid} has no parent that may be signalled.`);
  return parent;
}

onEmbedded('a server that outlives its parent on purpose', () => {
  it('continues when it was not started by npm', async () => {
    const started = await startBy('/bin/sh', ['-c', `${process.execPath} ${script} serve --no-demo & wait`]);
    started.child.kill('SIGKILL');
    await once(started.child, 'exit');
    const untilMs = performance.now() + noticedMs;
    while (performance.now() < untilMs) {
      expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
      await delay(50);
    }
  });
});

/** Longer than the watch for the parent takes to notice. */
const noticedMs = 1_000;

describe('a process that watches its parent, whose shell is killed,', () => {
  it.each([
    [
      'goes on when another script of npm has started it',
      { npm_lifecycle_event: 'deploy', npm_package_name: 'workgraph' },
      true,
    ],
    [
      'goes on when a script of another package has started it',
      { npm_lifecycle_event: 'start', npm_package_name: 'ours' },
      true,
    ],
    ['ends when npm start has started it', fromNpm, false],
  ])('%s', async (_what, env, goesOn) => {
    const watching = join(import.meta.dirname, 'parent-watch-process.ts');
    const child = spawn('/bin/sh', ['-c', `${process.execPath} ${watching} & wait`], {
      env: { ...outsideOfNpm(), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const pid = Number(line);
    servers.push(pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const untilMs = performance.now() + noticedMs;
    while (goesOn ? performance.now() < untilMs : isAlive(pid)) {
      if (goesOn) expect(isAlive(pid)).toBe(true);
      await delay(20);
    }
    expect(isAlive(pid)).toBe(goesOn);
  });
});

const old = oldNode();
(old === undefined ? it.skip : it)(
  'a server under an old Node ends when the shell is gone in which npm has started it',
  async () => {
    const started = await startBy('/bin/sh', ['-c', `${old} ${script} serve --no-demo; true`], fromNpm);
    expect(parentOf(parentOf(started.server))).toBe(started.child.pid);
    started.child.kill('SIGKILL');
    await ended(started);
    lockDataDirectory(started.directory).release();
  },
);

(old === undefined ? it.skip : it)(
  'the program says under an old Node that no other one is installed',
  () => {
    const alone = mkdtempSync(join(tmpdir(), 'workgraph-alone-'));
    try {
      cpSync(join(repository, 'bin'), join(alone, 'bin'), { recursive: true });
      writeFileSync(join(alone, 'package.json'), '{ "type": "module" }');
      const { status, stderr } = spawnSync(old ?? '', ['bin/workgraph.js'], {
        cwd: alone,
        env: outsideOfNpm(),
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^workgraph needs Node 22\.21, 24\.9 or newer; this is v.*, is missing: install with --include=optional, or use a newer Node\.\n$/,
      );
    } finally {
      rmSync(alone, { recursive: true, force: true });
    }
  },
);

/** Longer than a second server needs to start and to give up. */
const longestDrainMs = '7999';

onEmbedded('a second start', () => {
  let port: number;
  let shared: string;
  /** The server of the test before, which this one stops. */
  let first: Started | undefined;
  beforeAll(async () => {
    port = await freePort();
    shared = await newDataDir();
  });
  afterAll(() => {
    if (first) kill(first.server);
    rmSync(shared, { recursive: true, force: true });
  });

  /** Starts a server that keeps running after the test. If it waits for `before`, that server ends. */
  async function start(env: NodeJS.ProcessEnv = {}, before?: Started): Promise<Started> {
    const started = await startBy(
      process.execPath,
      [script, 'serve', '--no-demo'],
      { DATA_DIR: shared, DRAIN_MS: longestDrainMs, ...env },
      () => before && void endNow(before),
    );
    [children, servers] = [[], []];
    return started;
  }

  /** Makes a server start to stop. It still answers meanwhile. */
  async function stopping(server: Started): Promise<void> {
    process.kill(server.server, 'SIGTERM');
    await untilNotReady(server);
  }

  it('waits for a server that is stopping, and says so', async () => {
    const before = await start({ PORT: String(port) });
    await stopping(before);
    first = await start({ PORT: String(port) }, before);
    expect(first.messages()).toContain('Another server is stopping; waiting up to 3 s for it …\n');
    expect(isAlive(before.server)).toBe(false);
  });

  it('waits for the data directory, where the ports are different', async () => {
    const before = first ?? (await start());
    await stopping(before);
    first = await start({}, before);
    expect(first.messages()).toContain('Another server is stopping');
    expect(isAlive(before.server)).toBe(false);
  });

  it('gives up after three seconds', async () => {
    const before = first ?? (await start());
    const over = once(before.child, 'close');
    await stopping(before);
    const beganMs = performance.now();
    const second = await workgraph(['serve', '--port', '0', '--data-dir', shared]);
    expect(performance.now() - beganMs).toBeGreaterThan(3_000);
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toMatch(
      /^Another server is stopping.*\nThe data directory .* is held by another process/,
    );
    kill(before.server);
    await over;
  });
});
