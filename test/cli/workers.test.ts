import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { sql } from 'kysely';
import { WebSocket } from 'ws';
import { referenceChannel } from '../../src/db/engine/engine.ts';
import { hasServer, newServerDatabase, type TemporaryDatabase } from '../db/engines.ts';
import { Client } from '../faults/support/client.ts';
import { Ledger } from '../faults/support/ledger.ts';
import { freePort } from '../support/ports.ts';
import { Readers } from '../faults/support/readers.ts';
import { untilReplaced, workersOf } from '../faults/support/workers.ts';
import { addWorkspace, withDatabase, type World } from '../faults/support/world.ts';
import { Writers } from '../faults/support/writers.ts';
import { listen } from '../live/event-stream.ts';
import { changesDocument, socketUrl } from '../live/sockets.ts';
import { eventually } from '../support/eventually.ts';
import { httpClient } from '../support/http-client.ts';
import { webhookCalls } from '../webhooks/calls.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { serve, type Serving, workgraph } from './workgraph.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';

it.each(['2', 'auto'])('serve refuses WORKERS=%s on the embedded database', async (WORKERS) => {
  const ran = await workgraph(['serve', '--port', '0'], { WORKERS, DATA_DIR: '/nowhere' });
  expect(ran).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^WORKERS must be 1 with the embedded database/),
  });
});

(hasServer ? describe : describe.skip)('two workers on PostgreSQL', () => {
  let temporary: TemporaryDatabase<{ url: string }>;
  let dataDir: string;
  let serving: Serving;
  let metricsUrl: string;
  const requestsPerMinute = 600;

  beforeAll(async () => {
    temporary = await newServerDatabase();
    dataDir = mkdtempSync(join(tmpdir(), 'workgraph-workers-'));
    const metricsPort = await freePort();
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    serving = await serve(['--migrate', '--workers', '2'], {
      DATABASE_URL: temporary.location.url,
      DATA_DIR: dataDir,
      METRICS_ADDRESS: String(metricsPort),
      REQUESTS_PER_MINUTE: String(requestsPerMinute),
      STREAMS_PER_TOKEN: '2',
      QUEUE_WAIT_MS: '20000',
      REQUEST_TIMEOUT_MS: '30000',
      LOCK_TIMEOUT_MS: '20000',
      STATEMENT_TIMEOUT_MS: '20000',
      DRAIN_MS: '300',
      WEBHOOK_NETWORKS: '127.0.0.1',
    });
  });

  afterAll(async () => {
    const workers = workersOf(supervisor());
    expect(await serving.end()).toBe(0);
    expect(workers.filter((pid) => workersOf(process.pid).includes(pid))).toEqual([]);
    rmSync(dataDir, { recursive: true });
    await temporary.remove();
  });

  const supervisor = () => serving.child.pid ?? 0;

  /** Asks on a connection of its own, which the system gives to either worker. */
  async function ask(path: string, token?: string) {
    const client = new Client(serving.url, token);
    return client.send({ path }).finally(() => client.close());
  }

  /** Asks until both workers have answered, and returns how often. */
  async function askBoth(token: string): Promise<number> {
    const begun = serving.log().length;
    const answers = () =>
      serving
        .log()
        .slice(begun)
        .matchAll(/"worker":(\d).*"operation":"Teams"/g);
    const workers = () => new Set(Array.from(answers(), ([, worker]) => worker));
    let requestCount = 0;
    for (; workers().size < 2; requestCount += 1) expect((await ask('/v1/teams', token)).status).toBe(200);
    return requestCount;
  }

  async function answeredTeams(): Promise<number> {
    const samples = await samplesOf({ metricsUrl }, 'workgraph_request_duration_seconds_count');
    return [...samples].find(([labels]) => labels.endsWith('operation="Teams",status="200"'))?.[1] ?? 0;
  }

  /** A workspace of a test's own, whose token has quotas of its own. */
  function ownWorkspace(): Promise<World> {
    return withDatabase(temporary.location, addWorkspace);
  }

  it('share one address, print what each may use, and add up their metrics', async () => {
    expect(serving.messages()).toContain('2 workers, each with POOL_SIZE 5, MAX_CONCURRENCY 8');
    const { token } = await ownWorkspace();
    const requestCount = await askBoth(token);
    expect(await answeredTeams()).toBe(requestCount);
    expect(await sampleOf({ metricsUrl }, 'workgraph_workers')).toBe(2);
    expect(await sampleOf({ metricsUrl }, 'workgraph_pool_connections', 'state="size"')).toBe(10);
  });

  it('check their reference data as soon as another process has written some, whichever of them listens', async () => {
    const { token } = await ownWorkspace();
    const checks = () => sampleOf({ metricsUrl }, 'workgraph_reference_checks_total', 'kind="check"');
    const notify = () =>
      withDatabase(temporary.location, ({ unscoped }) =>
        sql`select pg_notify(${referenceChannel}, 'written')`.execute(unscoped),
      );
    // The first request of a workspace makes a check anyway.
    await askBoth(token);
    const before = await checks();
    // Both check after most notifications. If only one were told, there would be no more checks than notifications.
    for (let notified = 0; (await checks()) - before <= notified + 2; notified += 1) {
      await notify();
      await askBoth(token);
    }
  });

  it('grant a caller exactly its quota together', async () => {
    const { token } = await ownWorkspace();
    const startedMs = performance.now();
    const asking = Array.from({ length: 8 }, async () => {
      const statuses: number[] = [];
      while (statuses.at(-1) !== 429) statuses.push((await ask('/v1/teams', token)).status);
      return statuses;
    });
    const statuses = (await Promise.all(asking)).flat();
    const filledIn = ((performance.now() - startedMs) / 60_000) * requestsPerMinute;
    const granted = statuses.filter((status) => status === 200).length;
    expect(granted).toBeGreaterThanOrEqual(requestsPerMinute);
    expect(granted).toBeLessThanOrEqual(requestsPerMinute + filledIn);
  });

  it('count the streams of a token together, and tell streams of changes that the other worker wrote', async () => {
    const { token, teamId } = await ownWorkspace();
    const streams = [
      await listen(`${serving.url}/v1/changes`, token),
      await listen(`${serving.url}/v1/changes`, token),
    ];
    expect(streams.map(({ response }) => response.status)).toEqual([200, 200]);
    const third = await fetch(`${serving.url}/v1/changes`, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', Connection: 'close' },
    });
    expect(third.status).toBe(429);
    await third.body?.cancel();
    const client = new Client(serving.url, token);
    await client.send({
      method: 'POST',
      path: '/v1/issues',
      body: { teamId, title: 'Heard everywhere', description: '', priority: 0 },
    });
    client.close();
    for (const stream of streams) {
      expect((await stream.next()).type).toBe('issue.created.v1');
      stream.stop();
    }
  });

  /** Writes issues on connections of their own, which either worker gets, until both have written some. Returns their keys. */
  async function writeThroughBoth({ token, teamId }: World): Promise<string[]> {
    const before = serving.log().length;
    const written = () =>
      serving
        .log()
        .slice(before)
        .matchAll(/"worker":(\d).*"operation":"IssueCreate"/g);
    const wrote = () => new Set(Array.from(written(), ([, worker]) => worker));
    const keys: string[] = [];
    while (wrote().size < 2 || keys.length < 10) {
      const client = new Client(serving.url, token);
      const body = { teamId, title: 'Heard everywhere', description: '', priority: 0 };
      const answer = await client.send({ method: 'POST', path: '/v1/issues', body });
      client.close();
      keys.push((JSON.parse(answer.body) as { key: string }).key);
    }
    return keys;
  }

  it('tell a WebSocket of the changes that either of them wrote, each once and in order', async () => {
    const world = await ownWorkspace();
    const { graphql } = httpClient(serving.url, world.token);
    const now = await graphql<{ workspace: { changeCursor: string } }>('{ workspace { changeCursor } }');
    const client = createClient({
      url: socketUrl(serving.url),
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${world.token}` },
      retryAttempts: 0,
    });
    const heard: string[] = [];
    const following = client.iterate<{ changes: { issue: { key: string } } }>({
      query: changesDocument,
      variables: { after: now.body.data?.workspace.changeCursor },
    });
    const keys = await writeThroughBoth(world);
    for await (const { data } of following) {
      heard.push(data?.changes.issue.key ?? '');
      if (heard.length === keys.length) break;
    }
    await client.dispose();
    expect(heard).toEqual(keys);
  });

  it('send a webhook each change once, whichever of them wrote it', async () => {
    const world = await ownWorkspace();
    const hooks = webhookCalls(httpClient(serving.url, world.token));
    const receiver = await startReceiver();
    const { webhook } = await hooks.call('webhookCreate', { url: receiver.url });
    const keys = await writeThroughBoth(world);
    await receiver.until(keys.length);
    await eventually(async () => {
      const read = await hooks.read(webhook.id);
      return read?.backlog === 0 && read.waitingCount === 0;
    });
    const sent = receiver.messages.map(({ data }) => (data.issue as { key: string }).key);
    receiver.close();
    expect(sent.toSorted()).toEqual(keys.toSorted());
  });

  it('are replaced on SIGHUP under load, and no request fails', async () => {
    const [world, { token }] = [await ownWorkspace(), await ownWorkspace()];
    const ledger = new Ledger();
    const before = await answeredTeams();
    const writers = new Writers({ url: serving.url, world, ledger, count: 2 });
    const readers = new Readers(serving.url, token, 1);
    await writers.acknowledgement();
    const old = workersOf(supervisor());
    serving.child.kill('SIGHUP');
    await untilReplaced(() => workersOf(supervisor()), old);
    await writers.acknowledgement();
    await Promise.all([writers.stop(), readers.stop()]);
    const failed = [...writers.refusals, ...readers.refusals].filter(({ status }) => status !== 429);
    expect(failed).toEqual([]);
    expect(await withDatabase(temporary.location, (database) => ledger.check(database, world))).toEqual([]);
    // What the workers counted that have ended is still in the sums.
    expect(await answeredTeams()).toBe(before);
  });

  it('continue when the one that listens for notifications is killed, and the other one then listens', async () => {
    const listeners = async () => {
      const { rows } = await withDatabase(temporary.location, ({ unscoped }) =>
        sql<{ pid: number; port: number }>`select pid, client_port as port from pg_stat_activity
          where datname = current_database() and application_name like 'workgraph listener%'`.execute(
          unscoped,
        ),
      );
      return rows.map(({ pid }) => pid);
    };
    const [before] = await listeners();
    const old = workersOf(supervisor());
    // The workers were replaced one after the other, so the first of them leads.
    const [victim = 0] = old;
    const replaced = untilReplaced(() => workersOf(supervisor()), [victim]);
    process.kill(victim, 'SIGKILL');
    await eventually(() => serving.log().includes('a worker died'));
    expect((await ask('/health')).status).toBe(200);
    await replaced;
    await eventually(async () => {
      const [after, ...others] = await listeners();
      return after !== undefined && after !== before && others.length === 0;
    });
  });
});
