import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { readConfig } from '../../src/server/config.ts';
import { warnOfDescriptorLimit } from '../../src/server/file-descriptors.ts';
import { serve } from '../cli/workgraph.ts';
import { eventually } from '../support/eventually.ts';

const message = 'No file descriptors are left, so new connections are reset.';
const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux(
  'a server says that it has no file descriptors left, and goes on when it has some again',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'workgraph-descriptors-'));
    const server = await serve(['--no-demo'], { DATA_DIR: dataDir });
    const { pid = 0 } = server.child;
    const lowLimit = readdirSync(`/proc/${pid}/fd`).length + 20;
    expect(spawnSync('prlimit', ['--pid', String(pid), `--nofile=${lowLimit}:${lowLimit}`]).status).toBe(0);
    const { hostname, port } = new URL(server.url);
    const clients: Socket[] = [];
    await eventually(() => {
      clients.push(connect(Number(port), hostname).on('error', () => undefined));
      return server.log().includes(message);
    });
    for (const client of clients) client.destroy();
    await eventually(async () => {
      const answer = await fetch(`${server.url}/healthz`).catch(() => undefined);
      return answer?.status === 200;
    });
    expect(server.log().split(message)).toHaveLength(2);
    expect(await server.end()).toBe(0);
    rmSync(dataDir, { recursive: true });
  },
);

it.each([
  ['fewer than', 1_280, 1],
  ['as many as', 1_281, 0],
  ['unlimited', 'unlimited', 0],
])('a server warns at its start by what its settings need: the limit is %s', (_what, limit, warnings) => {
  const lines: unknown[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const settings = { DATABASE_URL: 'postgres://127.0.0.1/any', STREAMS: '1000', POOL_SIZE: '22' };
  // The limit includes a pool, a connection for probes, one that listens, and one that holds the janitor's lock.
  const limits = `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${limit}                 9999                 files\n`;
  warnOfDescriptorLimit(readConfig(settings, {}), logger, limits);
  expect(lines).toHaveLength(warnings);
});
