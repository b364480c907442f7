import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, it } from '@jest/globals';
import { answerBrokenRequest } from '../../src/server/http/broken-request.ts';

it('a connection is not reset when the client sends more after its refused request', async () => {
  const server = createServer();
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, undefined));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  client.on('data', (chunk) => (answer += String(chunk)));
  client.write('HELLO\r\n\r\n');
  await once(client, 'end');
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  for (let packets = 0; packets < 3; packets += 1) {
    const refused = once(server, 'clientError');
    client.write('more');
    const [, socket] = (await refused) as [Error, Duplex];
    expect(socket.destroyed).toBe(false);
  }
  client.end();
  const [hadError] = (await once(client, 'close')) as [boolean];
  expect(hadError).toBe(false);
  server.close();
  await once(server, 'close');
});
