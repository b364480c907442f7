import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { listenOn } from '../../src/server/http/listening.ts';
import { freePort } from '../support/ports.ts';

const host = '127.0.0.1';
const onLinux = process.platform === 'linux' ? it : it.skip;

/** Sockets of the machine that listen on the port. */
function countListeners(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.filter((line) => line.includes(` ${address} `) && line.includes(' 0A ')).length;
}

onLinux('a server listens on several sockets, each of which leads to it', async () => {
  const port = await freePort();
  const server = createServer({ keepAlive: true }, (_req, res) => res.end('here'));
  const additional = await listenOn(server, { host, port });
  expect([additional.length + 1, countListeners(port)]).toEqual([32, 32]);
  const answers = await Promise.all(
    Array.from({ length: 256 }, async () => {
      const answer = await fetch(`http://${host}:${port}/`, { headers: { Connection: 'close' } });
      return answer.text();
    }),
  );
  expect(new Set(answers)).toEqual(new Set(['here']));
  const servers = [server, ...additional];
  const closed = Promise.all(servers.map((each) => once(each, 'close')));
  for (const each of servers) each.close();
  await closed;
  expect(countListeners(port)).toBe(0);
});

it('a server refuses to start on a port that another server uses, whichever addresses that one listens on', async () => {
  const port = await freePort();
  const [first, second] = [createServer(), createServer()];
  const additional = await listenOn(first, { host, port });
  await expect(listenOn(second, { host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  for (const each of [first, ...additional]) each.close();
});
