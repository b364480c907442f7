import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hasServer, newServerDatabase, type TemporaryDatabase } from '../db/engines.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { serve, type Serving, workgraph } from './workgraph.ts';

const drainMs = 2_000;
let dataDir: string;
let temporary: TemporaryDatabase<{ url: string }> | undefined;
let serving: Serving;
let token: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-stopping-'));
  if (hasServer) temporary = await newServerDatabase();
  else await copyIntoDirectory('migrated', dataDir);
  const location = { DATA_DIR: dataDir, ...(temporary && { DATABASE_URL: temporary.location.url }) };
  // The supervisor of workers has a limit of its own.
  serving = await serve(temporary ? ['--migrate', '--workers', '2'] : ['--no-demo'], {
    ...location,
    DRAIN_MS: String(drainMs),
    CLIENT_TIMEOUT_MS: '60000',
  });
  const created = await workgraph(['workspace', 'create', '--name', 'Acme', '--json'], location);
  ({ token } = JSON.parse(created.stdout) as { token: string });
});

afterAll(async () => {
  serving.child.kill('SIGKILL');
  await temporary?.remove();
  rmSync(dataDir, { recursive: true, force: true });
});

it('a stopping server gives a request 8.5 s after DRAIN_MS, and then ends as usual', async () => {
  const sent = request(`${serving.url}/v1/issues`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': '100',
      Expect: '100-continue',
    },
  });
  sent.flushHeaders();
  // Now the server waits for a body that never comes.
  await once(sent, 'continue');
  const cut = once(sent, 'response').catch((error: NodeJS.ErrnoException) => error.code);
  const beganMs = performance.now();
  const ended = serving.end();
  expect(await cut).toBe('ECONNRESET');
  const tookMs = performance.now() - beganMs;
  expect(tookMs).toBeGreaterThan(drainMs + 8_400);
  expect(await ended).toBe(0);
});
