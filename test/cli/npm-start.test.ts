import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockDirectory } from '../../src/db/engine/directory-lock.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { serve, workgraph } from './workgraph.ts';

const repository = join(import.meta.dirname, '../..');
// These servers have the embedded database, whatever the other tests run on, so they are started in one of the two runs.
const onEmbedded = process.env.TEST_DATABASE_URL ? describe.skip : describe;
let dataDir: string;
let children: ChildProcess[];
let servers: number[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-npm-'));
  children = [];
  servers = [];
  await copyIntoDirectory('migrated', dataDir);
}, 60_000);

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const pid of servers) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The environment of somebody who is not inside of npm already. */
function outsideOfNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
}

interface Started {
  /** The process that was started, such as npm. */
  child: ChildProcess;
  /** The pid of the server, which is that of a descendant. */
  server: number;
  url: string;
  words: () => string;
}

/** Starts a server in some way, and waits until it is ready. */
async function startBy(command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Started> {
  const child = spawn(command, args, {
    cwd: repository,
    env: { ...outsideOfNpm(), PORT: '0', DATA_DIR: dataDir, DRAIN_MS: '100', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [words, log] = ['', ''];
  child.stderr.on('data', (chunk) => (words += String(chunk)));
  child.stdout.on('data', (chunk) => (log += String(chunk)));
  for (;;) {
    const ready = /^\{.*"workgraph is ready at .*\}$/m.exec(log)?.[0];
    if (ready !== undefined) {
      const { url } = JSON.parse(ready) as { url: string };
      const server = Number.parseInt(readFileSync(join(dataDir, 'lock.pid'), 'utf8'), 10);
      servers.push(server);
      return { child, server, url, words: () => words };
    }
    if (child.exitCode !== null) throw new Error(`It ended before it was ready: ${words}`);
    await delay(20);
  }
}

async function ended({ server }: Started): Promise<void> {
  while (isAlive(server)) await delay(20);
}

const shells = ['dash', 'bash'].flatMap((name) => {
  const found = spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim();
  return found === '' ? [] : [[name, found] as const];
});

onEmbedded('npm start', () => {
  it.each(shells)(
    'ends the server when npm alone gets SIGTERM, under %s',
    async (_name, shell) => {
      const started = await startBy('npm', ['start', `--script-shell=${shell}`]);
      expect(started.server).not.toBe(started.child.pid);
      process.kill(started.child.pid as number, 'SIGTERM');
      await ended(started);
      // The server has let go of the directory as at any stop.
      lockDirectory(dataDir).release();
      await expect(fetch(started.url)).rejects.toThrow('fetch failed');
    },
    60_000,
  );

  it('lets the server drain when the shell is killed', async () => {
    const started = await startBy('npm', ['start', '--script-shell=/bin/sh'], { DRAIN_MS: '3000' });
    process.kill(parentOf(started.server), 'SIGKILL');
    let readiness = 200;
    while (readiness === 200) readiness = (await fetch(`${started.url}/readyz`)).status;
    expect(readiness).toBe(503);
    await ended(started);
  }, 60_000);
});

function parentOf(pid: number): number {
  const parent = Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout);
  // A signal to 0 would go to the whole group of this process.
  if (!(parent > 1)) throw new Error(`The process ${pid} has no parent that may be signalled.`);
  return parent;
}

const script = join(repository, 'bin/workgraph.js');

onEmbedded('a server that outlives its parent on purpose', () => {
  it.each([
    ['was not started by npm', {}],
    [
      'was started by another script of npm',
      { npm_lifecycle_event: 'deploy', npm_package_name: 'workgraph' },
    ],
    [
      'was started by a script of another package',
      { npm_lifecycle_event: 'start', npm_package_name: 'ours' },
    ],
  ])(
    'goes on when it %s',
    async (_what, env) => {
      const background = `${process.execPath} ${script} serve & wait`;
      const started = await startBy('/bin/sh', ['-c', background], env);
      started.child.kill('SIGKILL');
      await once(started.child, 'exit');
      // Longer than the watch takes to notice, if it watched.
      const untilMs = performance.now() + 1_000;
      while (performance.now() < untilMs) {
        expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
        await delay(50);
      }
    },
    60_000,
  );
});

const fromNpm = { npm_lifecycle_event: 'start', npm_package_name: 'workgraph' };

/** The first Node on the path that is too old to run the program itself. */
function oldNode(): string | undefined {
  const found = spawnSync('which', ['-a', 'node'], { encoding: 'utf8' }).stdout.trim().split('\n');
  return found.find((file) => {
    const [major = 0, minor = 0] = spawnSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      .stdout.split('.')
      .map(Number);
    return major < 22 || (major === 22 && minor < 18);
  });
}

const old = oldNode();
(old === undefined ? it.skip : it)(
  'ends when the shell is gone in which npm has started an old Node',
  async () => {
    const started = await startBy('/bin/sh', ['-c', `${old} ${script} serve; true`], fromNpm);
    expect(parentOf(parentOf(started.server))).toBe(started.child.pid);
    started.child.kill('SIGKILL');
    await ended(started);
    lockDirectory(dataDir).release();
  },
  60_000,
);

onEmbedded('a second start', () => {
  it('waits for a server that is stopping, and says so', async () => {
    const port = await freePort();
    const first = await startBy(process.execPath, [script, 'serve'], {
      PORT: String(port),
      DRAIN_MS: '2000',
    });
    process.kill(first.server, 'SIGTERM');
    while ((await fetch(`${first.url}/readyz`)).status === 200) await delay(10);
    const second = await startBy(process.execPath, [script, 'serve'], { PORT: String(port) });
    expect(second.words()).toContain('Another server is stopping; waiting up to 3 s for it …\n');
    expect(isAlive(first.server)).toBe(false);
  }, 60_000);

  it('waits for the data directory, where the ports are different', async () => {
    const first = await serve(['--data-dir', dataDir], { DRAIN_MS: '2000' });
    const over = first.end();
    while ((await fetch(`${first.url}/readyz`)).status === 200) await delay(10);
    const second = await serve(['--data-dir', dataDir]);
    expect(second.words()).toContain('Another server is stopping');
    expect(await over).toBe(0);
    await second.end();
  }, 60_000);

  it('gives up after three seconds', async () => {
    const first = await serve(['--data-dir', dataDir], { DRAIN_MS: '6000' });
    const over = first.end();
    while ((await fetch(`${first.url}/readyz`)).status === 200) await delay(10);
    const beganMs = performance.now();
    const second = await workgraph(['serve', '--port', '0', '--data-dir', dataDir]);
    expect(performance.now() - beganMs).toBeGreaterThan(3_000);
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toMatch(
      /^Another server is stopping.*\nThe data directory .* is held by another process/,
    );
    first.child.kill('SIGKILL');
    await over;
  }, 60_000);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
