import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ms, quantile, runFault } from './support/fault.ts';
import { residentMb } from './support/memory.ts';
import { serverOnPostgres } from './support/scene.ts';
import { Follower } from './support/followers.ts';
import { Client } from './support/client.ts';
import type { World } from './support/world.ts';

const readers = 500;
const batch = 50;
const maxPerSecond = 2_000;

// Many clients open a stream of changes and never read it, while others follow the log.
await runFault(import.meta.filename, {
  fault: '500 streams of changes whose clients never read, while batches of issues are changed',
  pass: 'memory grows by 50 MB at most; others hear of a change as soon as before; cut ≤ 60 s; who comes back loses nothing',
  amount: { unit: 's', short: 10, long: 60 },
  run: async (trial) => {
    const { world, service } = await serverOnPostgres(trial, { STREAMS_PER_TOKEN: '1000' });
    const client = new Client(service.url, world.token);
    trial.defer(() => client.close());
    const cursorNow = async () => {
      const body = { query: '{ workspace { changeCursor } }' };
      for (;;) {
        const answer = await client.send({ method: 'POST', path: '/graphql', body });
        const { data } = JSON.parse(answer.body) as { data?: { workspace: { changeCursor: string } } };
        // The server may be too busy with the writes, and ask for a retry.
        if (data) return data.workspace.changeCursor;
        await delay(20);
      }
    };
    const writing = await writeBatches(service.url, world);
    const delays = async (forMs: number) => {
      const follower = new Follower({ urls: [service.url], token: world.token, cursor: await cursorNow() });
      const behind: number[] = [];
      const until = performance.now() + forMs;
      while (performance.now() < until) {
        const began = performance.now();
        const target = Number((await cursorNow()).split('-')[1]);
        while (follower.position < target && performance.now() - began < 10_000) await delay(2);
        behind.push(performance.now() - began);
        await delay(50);
      }
      await follower.stop();
      for (const words of follower.wrong) trial.must(false, words);
      return behind;
    };
    await delays(2_000);
    // Memory is measured before as well, because the same writes raise and lower it without these readers.
    const watchMemory = () => {
      let megabytes = 0;
      const watch = setInterval(() => {
        megabytes = Math.max(megabytes, residentMb(service.pid));
      }, 500);
      return () => {
        clearInterval(watch);
        return megabytes;
      };
    };
    const stopBefore = watchMemory();
    const before = await delays(trial.amount * 1_000);
    const beforeMb = stopBefore();
    const start = await cursorNow();
    const lives: number[] = [];
    const open = new Set<Socket>();
    const { hostname, port } = new URL(service.url);
    for (let n = 0; n < readers; n += 1) {
      const socket = connect({ host: hostname, port: Number(port) });
      open.add(socket);
      const began = performance.now();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        lives.push(performance.now() - began);
      });
      // It is never read: neither resumed nor listened to.
      socket.pause();
      socket.write(
        `GET /v1/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.token}\r\nAccept: text/event-stream\r\n` +
          `Last-Event-ID: ${start}\r\n\r\n`,
      );
      if (n % 50 === 0) await delay(20);
    }
    const stopMeanwhile = watchMemory();
    const meanwhile = await delays(trial.amount * 1_000);
    const maxMb = stopMeanwhile();
    const perSecond = await writing.stop();
    const metrics = await service.metrics();
    const cut = Number(/^workgraph_streams_cut_total\{reason="unread"\} (\d+)$/m.exec(metrics)?.[1]);
    for (const socket of open) socket.destroy();
    const follower = new Follower({ urls: [service.url], token: world.token, cursor: start });
    const end = Number((await cursorNow()).split('-')[1]);
    const until = performance.now() + 60_000;
    while (follower.position < end && performance.now() < until) await delay(20);
    await follower.stop();
    for (const words of follower.wrong) trial.must(false, words);
    trial.must(follower.position >= end, `a client that reconnected is at ${follower.position} of ${end}`);
    trial.must(service.isRunning, `the server ended: ${service.logTail()}`);
    const grown = maxMb - beforeMb;
    trial.must(grown <= 150, `memory grew by ${grown} MB`);
    trial.figure(grown <= 50, `memory grew by ${grown} MB, of 50`);
    const [p99Before, p99] = [quantile(before, 0.99), quantile(meanwhile, 0.99)];
    trial.figure(p99 <= 1.5 * p99Before + 20, `others heard after ${ms(p99)}, before after ${ms(p99Before)}`);
    return (
      `${readers} streams, ${Math.round(perSecond)} changes a second; memory at most ${beforeMb} MB before, ${maxMb} MB meanwhile; ` +
      `others hear of everything after p99 ${ms(p99Before)} before, ${ms(p99)} meanwhile; ${cut} cut because they read nothing; ` +
      `who came back read ${end - Number(start.split('-')[1])} changes without a gap`
    );
  },
});

/** Changes issues in batches of fifty, each client as soon as it has its answer, but at most two thousand issues a second. */
async function writeBatches(url: string, { token, teamId }: Pick<World, 'token' | 'teamId'>) {
  const atOnce = 4;
  const client = new Client(url, token, atOnce);
  const graphql = async (query: string, variables: object) => {
    const answer = await client.send({ method: 'POST', path: '/graphql', body: { query, variables } });
    const { data, errors } = JSON.parse(answer.body) as { data: Record<string, never>; errors?: unknown };
    // It writes as much as the server accepts, so the server may ask for a retry.
    if (answer.status === 503 || answer.body.includes('"UNAVAILABLE"')) return undefined;
    if (errors) throw new Error(answer.body);
    return data;
  };
  const create = 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }';
  const keys: string[] = [];
  for (let n = 0; n < atOnce * batch; n += 1) {
    const made = (await graphql(create, { input: { teamId, title: `Read by nobody ${n}` } })) as unknown as {
      issueCreate: { issue: { key: string } };
    };
    keys.push(made.issueCreate.issue.key);
  }
  const began = performance.now();
  let changed = 0;
  const over = new AbortController();
  const update =
    'mutation ($input: IssueBatchUpdateInput!) { issueBatchUpdate(input: $input) { issues { key } } }';
  const work = Array.from({ length: atOnce }, async (_, index) => {
    const own = keys.slice(index * batch, (index + 1) * batch);
    for (let round = 1; !over.signal.aborted; round += 1) {
      const done = await graphql(update, { input: { keys: own, estimateValue: round } }).catch(
        () => undefined,
      );
      if (done) changed += batch;
      const dueMs = (changed / maxPerSecond) * 1_000;
      await delay(Math.max(dueMs - (performance.now() - began), 0));
    }
  });
  return {
    stop: async () => {
      const passed = performance.now() - began;
      over.abort();
      await Promise.all(work);
      client.close();
      return (changed / passed) * 1_000;
    },
  };
}
