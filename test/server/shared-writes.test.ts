import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { RecentWrites } from '../../src/server/recent-writes.ts';
import { shareWrites } from '../../src/server/shared-writes.ts';
import { reasonForNoCluster } from '../faults/support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { type ReplicatedSetup, startReplicatedServer } from '../support/replicated-server.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

const redisUrl = process.env.TEST_REDIS_URL;

(redisUrl ? it : it.skip)('machines tell each other by Redis which tokens have written', async () => {
  const [one, other] = [new RecentWrites(), new RecentWrites()];
  const logger = pino({ level: 'silent' });
  const stops = [one, other].map((writes) => shareWrites(String(redisUrl), writes, logger));
  // Both are connected once each knows a write of the other.
  await eventually(() => {
    one.note('first');
    return other.has('first');
  });
  await eventually(() => {
    other.note('second');
    return one.has('second');
  });
  one.note('third');
  await eventually(() => other.has('third'));
  expect([one.has('nobody'), other.has('nobody')]).toEqual([false, false]);
  for (const stop of stops) stop();
});

(redisUrl ? it : it.skip).each(['from the start', 'after a while'])(
  'machines hear of writes again after Redis was silent on open connections %s',
  async (when) => {
    const proxy = await openRedisProxy(String(redisUrl));
    if (when === 'from the start') proxy.silence();
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const [one, other] = [new RecentWrites(), new RecentWrites()];
    const stops = [
      shareWrites(String(redisUrl), one, pino({ level: 'silent' })),
      shareWrites(proxy.url, other, logger, { everyMs: 50, unanswered: 20 }),
    ];
    const waitUntilShared = (tokenId: string) =>
      eventually(() => {
        one.note(tokenId);
        return other.has(tokenId);
      });
    if (when === 'after a while') {
      await waitUntilShared('before');
      proxy.silence();
    }
    await eventually(() => lines.some((line) => line.includes('has been silent')));
    await proxy.restore();
    await waitUntilShared('after');
    await eventually(() => lines.at(-1)?.includes('answers again') ?? false);
    expect(lines).toEqual([
      expect.stringContaining('has been silent'),
      expect.stringContaining('Redis answers again'),
    ]);
    for (const stop of stops) stop();
    await proxy.cut();
  },
);

describe('two machines with Redis and a replica', () => {
  const onMachines = redisUrl && reasonForNoCluster() === undefined ? it : it.skip;
  let one: ReplicatedSetup;
  let other: Awaited<ReturnType<ReplicatedSetup['another']>>;

  afterEach(async () => {
    await other?.stop();
    await one?.stop();
  });

  onMachines('show a token its own writes without the header, whichever of them wrote', async () => {
    one = await startReplicatedServer({ REDIS_URL: redisUrl });
    other = await one.another();
    const [writer, reader] = [await one.newToken(), await one.newToken()];
    const issue = { title: 'Before', teamId: one.world.teamId, description: '', priority: 0 };
    const { body } = await one.request<{ key: string }>('POST', '/v1/issues', { body: issue });
    const path = `/v1/issues/${body.key}`;
    const rewrite = (title: string) => one.request('PATCH', path, { token: writer, body: { title } });
    const titleFor = async (token: string) =>
      (await other.request<{ title: string }>('GET', path, { token })).body.title;
    await other.untilServes(true);
    // The first request reads the reference data, and the replica must not be older than that.
    await eventually(async () => {
      const before = other.served();
      return (await titleFor(reader)) === 'Before' && other.served() > before;
    });
    const rounds = Array.from({ length: 12 }, (_, round) => `Round ${round}`);
    const readWhilePaused = async () => {
      const pausedMs = performance.now();
      await one.standby.pauseReplay(one.primary);
      const readerTitles = [await titleFor(reader)];
      // When the other machine knows a write, both connections to Redis are open.
      await eventually(async () => {
        await rewrite('Heard of');
        return (await titleFor(writer)) === 'Heard of';
      });
      const writerTitles: string[] = [];
      for (const title of rounds) {
        await rewrite(title);
        writerTitles.push(await titleFor(writer));
      }
      readerTitles.push(await titleFor(reader));
      const tookMs = performance.now() - pausedMs;
      await one.standby.resumeReplay();
      return { ofWriter: writerTitles, ofReader: readerTitles, tookMs };
    };
    let read = await readWhilePaused();
    // After five seconds a replica is too far behind to serve queries, so a slower run on a busy machine proves nothing.
    while (read.tookMs > 4_500) read = await readWhilePaused();
    expect(read.ofWriter).toEqual(rounds);
    expect(read.ofReader[1]).toBe(read.ofReader[0]);
  });
});

it('a machine logs once that Redis does not answer, and still knows its own writes', async () => {
  const warnings: string[] = [];
  const logger = pino({}, { write: (line: string) => void warnings.push(line) });
  const writes = new RecentWrites();
  const stop = shareWrites('redis://127.0.0.1:1', writes, logger);
  await eventually(() => warnings.length > 0);
  writes.note('here');
  writes.note('again');
  await new Promise(setImmediate);
  stop();
  expect([writes.has('here'), warnings.length]).toEqual([true, 1]);
});
