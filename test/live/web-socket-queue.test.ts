import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { startApp } from '../support/app.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';
import { bare } from './sockets.ts';

type Connection = ReturnType<typeof bare>;

it.each([
  ['completes it', ({ say }: Connection) => say({ type: 'complete', id: '1' })],
  ['closes its connection', async ({ socket }: Connection) => socket.terminate()],
])(
  'an operation leaves the queue at once, logged and counted as 499, when the client %s',
  async (_how, leave) => {
    const lines: Record<string, unknown>[] = [];
    const log = new Writable({
      write(line: Buffer, _encoding, done) {
        lines.push(JSON.parse(String(line)) as Record<string, unknown>);
        done();
      },
    });
    const settings = { MAX_CONCURRENCY: '1', QUEUE_WAIT_MS: '60000', METRICS_ADDRESS: '0' };
    const app = await startApp({ sharesDatabase: true, settings, logLevel: 'info', log });
    const load = (state: string) => sampleOf(app, 'workgraph_admission_requests', `state="${state}"`);
    const connection = bare(app.url);
    await connection.say({ type: 'connection_init', payload: { Authorization: `Bearer ${app.token}` } });
    await once(connection.socket, 'message');
    const { first } = await whileIssuesAreBlocked(app, async () => {
      const first = app.request('GET', '/v1/issues');
      await eventually(async () => (await load('in_progress')) === 1);
      await connection.say({ type: 'subscribe', id: '1', payload: { query: '{ issues { totalCount } }' } });
      await eventually(async () => (await load('waiting')) === 1);
      await leave(connection);
      await eventually(async () => (await load('waiting')) === 0);
      return { first };
    });
    expect((await first).status).toBe(200);
    expect(lines.filter(({ over }) => over === 'websocket')).toMatchObject([{ status: 499 }]);
    const counted = [...(await samplesOf(app, 'workgraph_request_duration_seconds_count'))];
    const left = counted.filter(([labels]) => labels.includes('status="499"'));
    expect(left.map(([, count]) => count)).toEqual([1]);
    connection.socket.terminate();
    await app.stop();
  },
);
