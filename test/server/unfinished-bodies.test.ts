import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { UnfinishedBodies } from '../../src/server/http/unfinished-bodies.ts';
import { startApp } from '../support/app.ts';
import { sendRaw } from '../support/raw-http.ts';

describe('unfinished bodies', () => {
  it('are cut when they are too large together, the largest of the oldest first', () => {
    jest.useFakeTimers();
    try {
      const cut: string[] = [];
      const bodies = new UnfinishedBodies(1_000);
      const begin = (name: string) => bodies.begin({ workspaceId: () => 'one', cut: () => cut.push(name) });
      const [old, small] = [begin('old'), begin('small')];
      old.holds(400);
      small.holds(1);
      jest.advanceTimersByTime(100);
      const large = begin('large');
      jest.advanceTimersByTime(10);
      large.holds(599);
      expect(cut).toEqual([]);
      large.holds(600);
      expect(cut).toEqual(['old']);
      large.end();
      // What was cut or has ended counts no more.
      old.holds(10_000);
      large.holds(10_000);
      small.holds(1_000);
      expect(cut).toEqual(['old']);
      small.holds(1_001);
      expect(cut).toEqual(['old', 'small']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('are cut where most of them are: in a workspace, or among clients without a token', () => {
    const cut: string[] = [];
    const bodies = new UnfinishedBodies(1_000);
    const begin = (name: string, workspaceId: string | undefined, bytes: number) =>
      bodies.begin({ workspaceId: () => workspaceId, cut: () => cut.push(name) }).holds(bytes);
    begin('large', 'one', 400);
    for (const name of ['a', 'b', 'c', 'd', 'e']) begin(name, undefined, 100);
    begin('other', 'two', 100);
    expect(cut).toEqual([]);
    begin('small', 'two', 1);
    expect(cut).toHaveLength(1);
    expect(['a', 'b', 'c', 'd', 'e']).toContain(cut[0]);
  });

  it('of many clients are refused with 503, and others are read', async () => {
    const app = await startApp({ sharesDatabase: true });
    const { hostname, port } = new URL(app.url);
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\nContent-Type: application/json\r\n`;
    const part = Buffer.alloc(900_000, ' ');
    let refused = 0;
    const anyRefused = Promise.withResolvers<void>();
    const sockets = Array.from({ length: 90 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.on('data', (answer) => {
        expect(String(answer)).toMatch(/^HTTP\/1.1 503 .*Retry-After/is);
        refused += 1;
        anyRefused.resolve();
      });
      socket.write(`${head}Content-Length: 1000000\r\n\r\n`);
      socket.write(part);
      return socket;
    });
    try {
      await anyRefused.promise;
      expect(refused).toBeLessThan(45);
      const { status } = await app.graphql(`{ viewer { scopes } } #${'x'.repeat(500_000)}`);
      expect(status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await Promise.all(sockets.filter(({ closed }) => !closed).map((socket) => once(socket, 'close')));
      await app.stop();
    }
  });

  it('of clients without a token are refused before they come if they are too large', async () => {
    const app = await startApp({ sharesDatabase: true });
    const head = 'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const { status } = await sendRaw(app.url, `${head}Content-Length: 65537\r\n\r\n`);
    expect(status).toBe(413);
    await app.stop();
  });
});
