import { describe, expect, it } from '@jest/globals';
import { onStatement } from '../../src/db/engine/meter.ts';
import { maxCachedCharacters } from '../../src/executor/limits.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { listen, type EventReader } from './event-stream.ts';
import { nextListEvent, followList } from './list-events.ts';
import { newestCursor, nextAnswer, subscribe, untilCaughtUp } from './subscribing.ts';
import { sampleOf } from '../support/metrics.ts';

const { app, world, ada } = useIssueWorld({
  changesRows: true,
  settings: { STREAMS_PER_TOKEN: '300', MAX_OPERATION_COST: '10000', METRICS_ADDRESS: '0' },
});

const follow = (filter: object, after?: string) => followList(app, world.ada.token, { filter, after });

const newIssue = (fields: object = {}) => ada.create({ teamId: world.eng.id, title: 'An issue', ...fields });
const urgent = { priority: { eq: 'URGENT' } };

/** How many reads were made for streams, without those that a stream shared with another one. */
const readsMade = () => sampleOf(app, 'workgraph_stream_reads_total', 'kind="made"');

describe('equal subscriptions', () => {
  it('are answered together, by the statements of one', async () => {
    await newIssue({ priority: 'URGENT' });
    const start = await newestCursor(app);
    const streams = await Promise.all(Array.from({ length: 200 }, () => follow(urgent, start)));
    const receiveAll = async () => {
      const keys = await Promise.all(streams.map(async (stream) => (await nextListEvent(stream)).issue?.key));
      expect(new Set(keys).size).toBe(1);
    };
    await newIssue({ priority: 'URGENT' });
    await receiveAll();
    const statements: string[] = [];
    const end = onStatement(({ sql }) => void statements.push(sql));
    await newIssue({ priority: 'URGENT' });
    await receiveAll();
    end();
    for (const stream of streams) stream.stop();
    expect(statements.filter((sql) => sql.includes('"page"')).length).toBeLessThanOrEqual(3);
    expect(statements.length).toBeLessThan(60);
  });

  it('are answered together although many other documents were sent between their openings', async () => {
    const start = await newestCursor(app);
    const streams: EventReader[] = [];
    for (let opened = 0; opened < 10; opened += 1) {
      streams.push(await follow(urgent, start));
      for (let other = 0; other < 12; other += 1) {
        const query = `{ workspace { id } } # ${`${opened} ${other}`.padEnd(maxCachedCharacters / 11)}`;
        // A document is cached only when it is sent for the second time.
        for (let time = 0; time < 2; time += 1) await app.graphql(query, {}, { token: world.ada.token });
      }
    }
    const before = await readsMade();
    const { key } = await newIssue({ priority: 'URGENT' });
    const received = await Promise.all(
      streams.map(async (stream) => (await nextListEvent(stream)).issue?.key),
    );
    expect((await readsMade()) - before).toBe(1);
    for (const stream of streams) stream.stop();
    expect(new Set(received)).toEqual(new Set([key]));
  });

  it('read what came after their cursor once when they are opened together', async () => {
    const start = await newestCursor(app);
    const { key } = await newIssue({ priority: 'URGENT' });
    const statements: string[] = [];
    const end = onStatement(({ sql }) => void statements.push(sql));
    const streams = await Promise.all(Array.from({ length: 200 }, () => follow(urgent, start)));
    const received = await Promise.all(
      streams.map(async (stream) => (await nextListEvent(stream)).issue?.key),
    );
    end();
    for (const stream of streams) stream.stop();
    expect(new Set(received)).toEqual(new Set([key]));
    expect(statements.length).toBeLessThan(60);
  });

  it('share that read as streams of REST, too', async () => {
    const start = await newestCursor(app);
    const { key } = await newIssue();
    await newestCursor(app);
    const statements: string[] = [];
    const end = onStatement(({ sql }) => void statements.push(sql));
    const url = `${app.url}/v1/changes?cursor=${start}`;
    const streams = await Promise.all(Array.from({ length: 80 }, () => listen(url, world.ada.token)));
    const received = await Promise.all(streams.map(async (stream) => (await stream.next()).data['issueKey']));
    end();
    for (const stream of streams) stream.stop();
    expect(new Set(received)).toEqual(new Set([key]));
    expect(statements.length).toBeLessThan(40);
  });

  it('receive what was written between the opening of two of them', async () => {
    const start = await newestCursor(app);
    const received: (string | undefined)[][] = [];
    const written: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      written.push((await newIssue({ priority: 'HIGH' })).key);
      const stream = await follow({ priority: { eq: 'HIGH' } }, start);
      const keys: (string | undefined)[] = [];
      while (keys.length < written.length) keys.push((await nextListEvent(stream)).issue?.key);
      received.push(keys);
      stream.stop();
    }
    expect(received).toEqual(written.map((_, round) => written.slice(0, round + 1)));
  });

  it('with different filters read the log and the issues together', async () => {
    const start = await newestCursor(app);
    const filters = Array.from({ length: 40 }, (_, estimate) => ({
      priority: { eq: 'LOW' },
      not: { estimateValue: { eq: estimate + 100 } },
    }));
    const streams = await Promise.all(filters.map((filter) => follow(filter, start)));
    const receiveAll = () => Promise.all(streams.map(nextListEvent));
    await newIssue({ priority: 'LOW' });
    await receiveAll();
    const statements: string[] = [];
    const end = onStatement(({ sql }) => void statements.push(sql));
    await newIssue({ priority: 'LOW' });
    await receiveAll();
    end();
    for (const stream of streams) stream.stop();
    expect(statements.filter((sql) => sql.includes('"page"')).length).toBeLessThanOrEqual(3);
    // The issue is read once for all filters, and its selected fields once for all lists.
    expect(statements.length).toBeLessThan(30);
  });

  it('compute fields that depend on the viewer separately for each token', async () => {
    const query = `subscription ($after: String) {
      issues(after: $after) { issue { key isSubscribed viewerCanUpdate } }
    }`;
    const start = await newestCursor(app);
    const streams = await Promise.all(
      [world.ada, world.bob, world.guest].map(({ token }) =>
        subscribe(app, query, { after: start }, { token }),
      ),
    );
    const receiveAll = async () =>
      Promise.all(streams.map(async (stream) => (await nextListEvent(stream)).issue));
    await newIssue();
    await receiveAll();
    const { key } = await newIssue();
    expect(await receiveAll()).toEqual([
      { key, isSubscribed: true, viewerCanUpdate: true },
      { key, isSubscribed: false, viewerCanUpdate: true },
      { key, isSubscribed: false, viewerCanUpdate: false },
    ]);
    for (const stream of streams) stream.stop();
  });

  it('send each token only what its scopes cover', async () => {
    const query = 'subscription ($after: String) { changes(after: $after) { eventType } }';
    const start = await newestCursor(app);
    const narrowToken = await app.tokenFor({ scopes: ['teams:read'], role: 'member' });
    const wideToken = await app.tokenFor({ scopes: ['teams:read', 'issues:read'], role: 'member' });
    const streams = await Promise.all(
      [narrowToken, wideToken].map((token) => subscribe(app, query, { after: start }, { token })),
    );
    for (let round = 0; round < 2; round += 1) {
      await newIssue();
      const { answer } = await nextAnswer(streams[1] as EventReader);
      expect(answer.data?.changes?.eventType).toBe('issue.created.v1');
    }
    const [narrowStream] = streams as [EventReader];
    await untilCaughtUp(app, narrowStream);
    expect(narrowStream.count()).toBe(0);
    for (const stream of streams) stream.stop();
  });
});
