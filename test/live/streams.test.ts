import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { hashToken } from '../../src/resolvers/access/access-tokens.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { listen } from './event-stream.ts';
import { numberAllChanges } from './logged.ts';
import { newestCursor, untilCaughtUp } from './subscribing.ts';
import { sampleOf } from '../support/metrics.ts';
import { revokeToken } from '../support/revoke-token.ts';

const { app, world, ada } = useIssueWorld({ settings: { STREAMS_PER_TOKEN: '3', METRICS_ADDRESS: '0' } });

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });
const streamUrl = (query = '') => `${app.url}/v1/changes${query}`;

describe('GET /v1/changes as a stream', () => {
  it('sends each change when it is made, in the same form as in a page', async () => {
    const stream = await listen(streamUrl(), world.ada.token);
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('Cache-Control')).toContain('no-transform');
    expect(stream.response.headers.get('Content-Encoding')).toBeNull();
    const { key, id } = await newIssue();
    const created = await stream.next();
    expect(created).toMatchObject({ type: 'issue.created.v1', data: { subjectId: id, issueKey: key } });
    expect(created.id).toBe(created.data.cursor);
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    const commented = await stream.next();
    expect(commented.type).toBe('issue-comment.created.v1');
    stream.stop();
    const page = await app.request<{ results: unknown[] }>('GET', `/v1/changes?cursor=${created.id}`);
    expect(page.body.results).toEqual([commented.data]);
  });

  it.each(['text/event-stream; charset=utf-8', 'text/event-stream;charset="UTF-8"'])(
    'is sent to %s',
    async (accept) => {
      const stream = await listen(streamUrl(), world.ada.token, { Accept: accept });
      stream.stop();
      expect(stream.response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
    },
  );

  it('answers HEAD with the headers of GET, and opens no stream', async () => {
    const ask = (query: string) =>
      app.request('HEAD', `/v1/changes${query}`, { headers: { Accept: 'text/event-stream' } });
    const stream = await listen(streamUrl(), world.ada.token);
    stream.stop();
    const named = ['content-type', 'cache-control', 'content-length', 'x-graphql-operation', 'vary'];
    const [ofGet, ofHead] = [stream.response, await ask('')].map(({ headers }) =>
      named.map((name) => headers.get(name)),
    );
    expect(ofHead).toEqual(ofGet);
    // A token may have only three streams.
    for (let count = 0; count < 4; count += 1) expect((await ask('')).status).toBe(200);
    expect((await ask('?cursor=c1-0-1')).status).toBe(410);
  });

  it('starts after a cursor, and continues from Last-Event-ID without loss or repetition', async () => {
    const start = await newestCursor(app);
    const { key } = await newIssue();
    for (const body of ['One', 'Two', 'Three']) await ada.mutate('commentCreate', { issueKey: key, body });
    await numberAllChanges(app.database);
    const first = await listen(streamUrl(`?cursor=${start}&page_size=2`), world.ada.token);
    const seen = [await first.next(), await first.next()];
    first.stop();
    const second = await listen(streamUrl(`?cursor=${start}`), world.ada.token, {
      'Last-Event-ID': seen[1]?.id ?? '',
    });
    seen.push(await second.next(), await second.next());
    second.stop();
    const positions = seen.map(({ data }) => Number(data.position));
    expect(positions.map((position) => position - (positions[0] ?? 0))).toEqual([0, 1, 2, 3]);
  });

  it('sends only changes that match the filter, and its id still advances', async () => {
    const start = await newestCursor(app);
    const stream = await listen(
      streamUrl(`?cursor=${start}&event_type=issue-comment.created.v1`),
      world.ada.token,
    );
    const { key } = await newIssue();
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    expect((await stream.next()).type).toBe('issue-comment.created.v1');
    expect(stream.lastId()).toBe(await newestCursor(app));
    stream.stop();
  });

  it('is read together with equal streams, also far behind the end of the log', async () => {
    const start = await newestCursor(app);
    const change = () => ({
      changeId: newUuid(),
      eventType: 'issue.updated.v1',
      occurredUtc: new Date(),
      subjectId: newUuid(),
      origin: 1,
    });
    const log = app.database.of(app.workspaceId);
    await log
      .insertInto('changeInbox')
      .values(Array.from({ length: 2_500 }, change))
      .execute();
    const reads = () => sampleOf(app, 'workgraph_stream_reads_total', 'kind="made"');
    const before = await reads();
    const streams = await Promise.all(
      [1, 2, 3].map(() => listen(streamUrl(`?cursor=${start}`), world.ada.token)),
    );
    for (const stream of streams) {
      await untilCaughtUp(app, stream);
      stream.stop();
    }
    // Each stream would need ten reads of its own.
    expect((await reads()) - before).toBeLessThan(20);
  });

  it('ends when its token is revoked, at the latest with the next change', async () => {
    const token = await app.tokenFor();
    const stream = await listen(streamUrl(), token);
    await newIssue();
    expect((await stream.next()).type).toBe('issue.created.v1');
    await revokeToken(app, token);
    await newIssue();
    await stream.ended;
    await expect(stream.next()).rejects.toThrow('has ended');
    expect(await sampleOf(app, 'workgraph_streams_cut_total', 'reason="refused"')).toBe(1);
    expect(await sampleOf(app, 'workgraph_change_inbox_rows')).toBeGreaterThanOrEqual(0);
  });

  it('ends within ten seconds when its token is revoked and nothing else happens', async () => {
    const token = await app.tokenFor();
    const stream = await listen(streamUrl(), token);
    const beganMs = performance.now();
    await app.database.unscoped
      .updateTable('accessToken')
      .set({ revokedUtc: new Date() })
      .where('tokenHash', '=', hashToken(token))
      .execute();
    await stream.ended;
    expect(performance.now() - beganMs).toBeLessThan(10_000);
  });

  it('reads once for equal streams, whose tokens cover the same', async () => {
    const saved = () => sampleOf(app, 'workgraph_stream_reads_total', 'kind="saved"');
    const start = await newestCursor(app);
    const tokens = await Promise.all([1, 2, 3].map(() => app.tokenFor()));
    const streams = await Promise.all(tokens.map((token) => listen(streamUrl(`?cursor=${start}`), token)));
    const before = await saved();
    await newIssue();
    const events = await Promise.all(streams.map((stream) => stream.next()));
    expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(1);
    expect(await saved()).toBeGreaterThan(before);
    for (const stream of streams) stream.stop();
  });

  it('sends nothing of other workspaces, and only what the scopes cover', async () => {
    const other = await app.secondWorkspace();
    const foreignStream = await listen(streamUrl(), other.token);
    const narrowStream = await listen(streamUrl(), await app.tokenFor({ scopes: ['teams:read'] }));
    expect(narrowStream.response.status).toBe(403);
    await newIssue();
    await numberAllChanges(app.database);
    expect(foreignStream.lastId()).toBe('c1-0-0');
    foreignStream.stop();
  });

  it.each([
    ['an expired cursor', '?cursor=c1-1-zzz', 410, 'cursor_expired'],
    ['a cursor of something else', '?cursor=nonsense', 400, 'invalid_request'],
    ['a page that is too large', '?page_size=1000', 400, 'invalid_request'],
  ])('is refused before it begins for %s', async (_what, query, status, code) => {
    const { response } = await listen(streamUrl(query), world.ada.token);
    expect(response.status).toBe(status);
    expect(response.headers.get('Content-Type')).toContain('application/problem+json');
    const again = await fetch(streamUrl(query), {
      headers: { Authorization: `Bearer ${world.ada.token}`, Accept: 'text/event-stream' },
    });
    expect(await again.json()).toMatchObject({ code });
  });

  it('is refused when the token has too many, and not any more when one has ended', async () => {
    const token = await app.tokenFor();
    const streams = await Promise.all([1, 2, 3].map(() => listen(streamUrl(), token)));
    const refused = await fetch(streamUrl(), {
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' },
    });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).not.toBeNull();
    expect(await refused.json()).toMatchObject({ code: 'too_many_streams' });
    const waiting = await app.request('GET', `/v1/changes?wait=1&cursor=${await newestCursor(app)}`, {
      token,
    });
    expect(waiting.status).toBe(429);
    for (const stream of streams) {
      stream.stop();
      await stream.ended;
    }
    // The server frees the place of a stream only when its connection is closed.
    await eventually(async () => {
      const next = await listen(streamUrl(), token);
      next.stop();
      return next.response.status === 200;
    });
  });

  it('begins or is refused with Retry-After where many are opened at once, and begins when it comes again', async () => {
    const otherApp = await startApp({
      sharesDatabase: true,
      settings: { MAX_CONCURRENCY: '1', QUEUE_WAIT_MS: '1', STREAMS_PER_TOKEN: '100' },
    });
    const headers = { Authorization: `Bearer ${otherApp.token}`, Accept: 'text/event-stream' };
    const body = JSON.stringify({ query: 'subscription { changes { eventType } }' });
    let refused = 0;
    const open = async () => {
      for (;;) {
        const response = await fetch(`${otherApp.url}/graphql`, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body,
        });
        if (response.status === 200) return response.body?.cancel();
        refused += 1;
        expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '1']);
        await response.arrayBuffer();
        // Requests without a pause would take the processor from the streams that are beginning.
        await delay(20);
      }
    };
    await Promise.all(Array.from({ length: 60 }, open));
    expect(refused).toBeGreaterThan(0);
    await otherApp.stop();
  });

  it('ends when the server stops, and tells each client to come back sooner than after a break', async () => {
    const otherApp = await startApp({ sharesDatabase: true });
    const streams = await Promise.all(
      [1, 2, 3].map(() => listen(`${otherApp.url}/v1/changes`, otherApp.token)),
    );
    await otherApp.stop();
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) {
      await expect(stream.next()).rejects.toThrow('has ended');
      expect(stream.retryMs()).toBeGreaterThanOrEqual(250);
      expect(stream.retryMs()).toBeLessThanOrEqual(1_250);
    }
  });

  it('does not occupy the tickets of requests', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => app.tokenFor()));
    const streams = await Promise.all(
      tokens.flatMap((token) => [1, 2, 3].map(() => listen(streamUrl(), token))),
    );
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
    const { id } = await callerOf(app, world.bob.token).create({ teamId: world.eng.id, title: 'To all' });
    for (const stream of streams) {
      expect((await stream.next()).data.subjectId).toBe(id);
      stream.stop();
    }
  });
});
