import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { connect } from '../../src/client/client.ts';

beforeEach(
  () =>
    void jest.useFakeTimers({
      doNotFake: [
        'Date',
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
        'setInterval',
        'clearInterval',
      ],
    }),
);
afterEach(() => void jest.useRealTimers());

const cursor = (n: number) => `retry: 1\nid: c1-${n}-a\ndata: {"position": ${n}}\n\n`;

it.each([
  ['has broken', (response: ServerResponse) => response.end(cursor(1))],
  ['has fallen silent', (response: ServerResponse) => response.write(cursor(1))],
])(
  'a stream whose connection %s is opened again also when the server does not answer once',
  async (_, send) => {
    const asked: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      asked.push(headers['last-event-id']?.toString());
      if (asked.length === 2) return;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      if (asked.length === 1) send(response);
      else response.write(cursor(2));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stream = connect({ url: `http://localhost:${port}`, token: 'a token' }).changes();
    expect(await stream.next()).toMatchObject({ value: { position: 1 } });
    const next = stream.next();
    for (const times of [2, 3]) {
      // The silence, and then the moment before the next attempt.
      await nextTurn();
      jest.advanceTimersByTime(30_000);
      for (let turn = 0; turn < 20_000 && asked.length < times; turn += 1) {
        jest.advanceTimersByTime(1);
        await nextTurn();
      }
      expect(asked).toHaveLength(times);
    }
    expect(await next).toMatchObject({ value: { position: 2 } });
    expect(asked).toEqual([undefined, 'c1-1-a', 'c1-1-a']);
    await stream.return();
    server.closeAllConnections();
    server.close();
  },
  10_000,
);
