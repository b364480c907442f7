import { expect, it } from '@jest/globals';
import { inProcess } from '../cli/workgraph.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { numberAllChanges } from './logged.ts';
import { newestCursor, nextAnswer, subscribe } from './subscribing.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true, settings: { METRICS_ADDRESS: '0' } });

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });
const document = 'subscription ($after: String) { changes(after: $after) { eventType } }';
const follow = (after?: string) => subscribe(app, document, { after }, { token: world.ada.token });

it('`changes reset` expires every cursor, ends the streams, and logs an event', async () => {
  await newIssue();
  const before = await newestCursor(app);
  const stream = await follow(before);
  const { exitCode, stdout } = await inProcess(app, 'changes reset', ['--json']);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, [{ workspaceId: expect.any(String) }]]);
  expect((await nextAnswer(stream)).answer.errors?.[0]?.extensions.code).toBe('CURSOR_EXPIRED');
  await stream.ended;
  for (const cursor of [before, 'c1-0-0']) expect((await follow(cursor)).response.status).toBe(410);
  await numberAllChanges(app.database);
  const { body } = await app.graphql<{ changes: { nodes: { eventType: string }[] } }>(
    '{ changes { nodes { eventType } } }',
  );
  expect(body.data?.changes.nodes).toEqual([{ eventType: 'changes.lost.v1' }]);
  const again = await follow(await newestCursor(app));
  await newIssue();
  expect((await nextAnswer(again)).answer.data?.changes?.eventType).toBe('issue.created.v1');
  again.stop();
});

it('the metrics count streams, changes and their delays', async () => {
  const before = await sampleOf(app, 'workgraph_delivered_events_total');
  const streams = [await follow(await newestCursor(app)), await follow(await newestCursor(app))];
  expect(Object.fromEntries(await samplesOf(app, 'workgraph_streams'))).toEqual({
    'of="graphql"': 2,
    'of="rest"': 0,
    'of="waiting"': 0,
  });
  await newIssue();
  for (const stream of streams) await nextAnswer(stream);
  const after = await sampleOf(app, 'workgraph_delivered_events_total');
  expect(after - before).toBe(2);
  expect(await sampleOf(app, 'workgraph_changes_total')).toBeGreaterThan(0);
  expect(Object.fromEntries(await samplesOf(app, 'workgraph_change_lag_seconds_count'))).toMatchObject({
    'stage="numbered"': expect.any(Number),
    'stage="delivered"': expect.any(Number),
  });
  expect(await sampleOf(app, 'workgraph_stream_reads_total', 'kind="made"')).toBeGreaterThan(0);
  for (const stream of streams) stream.stop();
});
