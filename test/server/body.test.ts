import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { readBody } from '../../src/server/http/read-body.ts';
import { UnfinishedBodies } from '../../src/server/http/unfinished-bodies.ts';

const limits = { withinMs: 60_000, maxBytes: 1_000, sizeRule: 'The body is too large.' };

it.each([
  ['has arrived completely', '{"query":1}'],
  ['has arrived in part', '{"query"'],
])('a body that %s is not waited for once its client has reset the connection', async (_what, sent) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n${sent}`);
  const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  // `once` would also listen for errors, which nothing does before a body is read.
  const closed = new Promise((resolve) => req.on('close', resolve));
  client.resetAndDestroy();
  await closed;
  await expect(readBody(req, res, limits, new UnfinishedBodies())).rejects.toMatchObject({
    code: 'unavailable',
  });
  server.close();
});
