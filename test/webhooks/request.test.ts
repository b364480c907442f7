import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HostNames } from '../../src/live/webhooks/host-names.ts';
import { WebhookClient } from '../../src/live/webhooks/webhook-client.ts';
import { WebhookTargets } from '../../src/resolvers/webhooks/targets.ts';
import { eventually } from '../support/eventually.ts';
import { hostileHosts } from './hostile-hosts.ts';

const open: { close: () => void }[] = [];
afterEach(() => {
  for (const opened of open.splice(0)) opened.close();
});

/** Starts a receiver on this machine that counts its connections. */
async function countingReceiver(
  answer: RequestListener,
): Promise<{ port: number; connections: () => number }> {
  const server: Server = createServer(answer).listen(0, '127.0.0.1');
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** Starts a receiver that accepts connections and says nothing. */
async function silentReceiver(): Promise<{ port: number; sockets: readonly Socket[] }> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => void sockets.push(socket.on('error', () => {})));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  open.push({ close: () => (server.close(), sockets.forEach((socket) => socket.destroy())) });
  return { port: (server.address() as AddressInfo).port, sockets };
}

function senderTo(networks: string[], hostNames?: Pick<HostNames, 'addressesOf'>, withinMs = 5_000) {
  const client = new WebhookClient({
    targets: new WebhookTargets(networks),
    withinMs,
    ...(hostNames && { hostNames }),
  });
  open.push(client);
  return (url: string, body = '{}') => client.send(url, { 'Content-Type': 'application/json' }, body);
}

/** A look-up of host names that answers with one list after the other, and then always with the last. */
function hostNamesOf(...answers: string[][]): Pick<HostNames, 'addressesOf'> {
  const remaining = [...answers];
  return {
    addressesOf: async () => {
      const addresses = (remaining.length > 1 ? remaining.shift() : remaining[0]) ?? [];
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

describe('sending a webhook', () => {
  it('posts the body and keeps the status and the beginning of the answer', async () => {
    const seen: string[] = [];
    const { port } = await countingReceiver((request, response) => {
      void bodyOf(request).then((body) => {
        seen.push(`${request.method} ${request.url} ${body}`);
        response.writeHead(202, { 'Retry-After': '7' }).end('a'.repeat(3_000));
      });
    });
    const answer = await senderTo(['127.0.0.1'])(`http://127.0.0.1:${port}/hook?a=1`, '{"a":"ü"}');
    expect(seen).toEqual(['POST /hook?a=1 {"a":"ü"}']);
    expect(answer).toMatchObject({ status: 202, error: null, head: 'a'.repeat(1_024), retryAfter: '7' });
  });

  it('refuses to connect to addresses of this machine or its network, in any spelling', async () => {
    const { port, connections } = await countingReceiver((_request, response) => response.end());
    const send = senderTo([]);
    for (const host of [...hostileHosts, 'localhost']) {
      for (const protocol of ['http', 'https']) {
        const { status, error } = await send(`${protocol}://${host}:${port}/`);
        expect({ host, status }).toEqual({ host, status: null });
        expect(error).not.toBeNull();
      }
    }
    expect(connections()).toBe(0);
  });

  it('checks the address that it connects to in each attempt, not that of an earlier look-up', async () => {
    const { port, connections } = await countingReceiver((_request, response) => response.end());
    const send = senderTo([], hostNamesOf(['127.0.0.1']));
    const { error } = await send(`https://rebound.example:${port}/`);
    expect(error).toBe('The host name does not resolve to a public address.');
    expect(connections()).toBe(0);
  });

  it('uses only those of several addresses that are permitted', async () => {
    const { port } = await countingReceiver((_request, response) => response.end('here'));
    const send = senderTo(['127.0.0.1'], hostNamesOf(['10.0.0.1', '127.0.0.1']));
    expect(await send(`http://named.example:${port}/`)).toMatchObject({ status: 200, head: 'here' });
  });

  it('refuses a name that resolves to another address from the second attempt on', async () => {
    const { port, connections } = await countingReceiver((_request, response) => {
      response.setHeader('Connection', 'close').end('here');
    });
    const send = senderTo(['127.0.0.1'], hostNamesOf(['127.0.0.1'], ['127.0.0.2']));
    expect(await send(`http://named.example:${port}/`)).toMatchObject({ status: 200 });
    expect(await send(`http://named.example:${port}/`)).toMatchObject({ status: null });
    expect(connections()).toBe(1);
  });

  it('does not follow a redirect', async () => {
    const { port: second, connections } = await countingReceiver((_request, response) => response.end());
    const { port } = await countingReceiver((_request, response) => {
      response.writeHead(307, { Location: `http://127.0.0.1:${second}/` }).end();
    });
    expect(await senderTo(['127.0.0.1'])(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 307 });
    expect(connections()).toBe(0);
  });

  it('reads only the beginning of an endless answer, and refuses headers that are too long', async () => {
    const { port } = await countingReceiver((request, response) => {
      if (request.url === '/headers') response.setHeader('X-Long', 'a'.repeat(2_000_000)).end();
      else {
        const more = (): void => {
          while (!response.destroyed && response.write('a'.repeat(10_000)));
          response.once('drain', more);
        };
        more();
      }
    });
    const send = senderTo(['127.0.0.1']);
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, head: 'a'.repeat(1_024) });
    expect(await send(`http://127.0.0.1:${port}/headers`)).toMatchObject({
      status: null,
      error: 'The headers of the answer are too large.',
    });
  });

  it.each([
    ['informational answers', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['empty lines', '\r\n\r\n'],
    ['chunks with long extensions', `1;${'e'.repeat(15_000)}\r\na\r\n`],
  ])('reads a bounded number of bytes of endless %s', async (what, piece) => {
    const flood = Buffer.from(piece.repeat(Math.ceil(100_000 / piece.length)));
    const server = createTcpServer((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(flood));
      };
      socket.on('error', () => {}).on('drain', more);
      socket.once('data', () => {
        if (what.startsWith('chunks')) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        more();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    open.push(server);
    const { port } = server.address() as AddressInfo;
    const answer = await senderTo(['127.0.0.1'])(`http://127.0.0.1:${port}/`);
    expect(answer.error).toBe('The answer is too long.');
  });

  it('reads 4 kB of an answer and does not wait for the rest', async () => {
    const { port } = await countingReceiver((_request, response) => {
      response.write('a'.repeat(4_096));
    });
    const send = senderTo(['127.0.0.1'], undefined, 1_000);
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, error: null });
  });

  it.each(['http', 'https'])(
    'connects to a receiver while many other messages to its host wait for their answers: %s',
    async (protocol) => {
      const { port, sockets } = await silentReceiver();
      const send = senderTo(['127.0.0.1']);
      for (let count = 1; count <= 33; count += 1) void send(`${protocol}://127.0.0.1:${port}/${count}`);
      await eventually(() => sockets.length >= 33);
      expect(sockets).toHaveLength(33);
    },
  );

  it('fails when the receiver switches to another protocol instead of answering', async () => {
    const { port, sockets } = await silentReceiver();
    const answer = senderTo(['127.0.0.1'])(`http://127.0.0.1:${port}/`);
    await eventually(() => sockets.length === 1);
    sockets[0]?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    expect(await answer).toMatchObject({
      status: null,
      error: 'The receiver switched to another protocol (101) instead of answering.',
    });
  });

  it.each(['/silent', '/trickle'])('gives up if the answer does not arrive in time: %s', async (path) => {
    const { port } = await countingReceiver((request, response) => {
      if (request.url !== '/trickle') return;
      const timer = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const { status, error } = await senderTo(
      ['127.0.0.1'],
      undefined,
      200,
    )(`http://127.0.0.1:${port}${path}`);
    expect(status).toBeNull();
    expect(error).toBe('There was no complete answer within 0.2 s.');
  });

  it('reports why there was no answer without details of the network', async () => {
    const { port } = await countingReceiver((request) => request.socket.destroy());
    const send = senderTo(['127.0.0.1']);
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      error: 'The connection was closed before the answer was complete.',
    });
    expect(await send('http://127.0.0.1:9/')).toMatchObject({ error: 'The connection was refused.' });
    const names = new HostNames({ hasOwnNetworks: true, servers: ['127.0.0.1:9'] });
    expect(await senderTo([], names)('https://hooks..test/')).toMatchObject({
      error: 'The host name is malformed.',
    });
  });

  it.each([
    ['http', 'SSH-2.0-receiver\r\n', 'The receiver did not answer in HTTP.'],
    ['https', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'The receiver did not answer in TLS.'],
  ])('says over %s that %j is no answer', async (protocol, bytes, error) => {
    const { port, sockets } = await silentReceiver();
    const answer = senderTo(['127.0.0.1'])(`${protocol}://127.0.0.1:${port}/`);
    await eventually(() => sockets.length === 1);
    sockets[0]?.write(bytes);
    expect(await answer).toMatchObject({ status: null, error });
  });

  it('keeps few connections when each receiver has another address', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '0.0.0.0');
    // It closes no idle connection.
    server.keepAliveTimeout = 0;
    let connections = 0;
    server.on('connection', (socket) => {
      connections += 1;
      socket.on('close', () => (connections -= 1));
    });
    await once(server, 'listening');
    open.push({ close: () => (server.closeAllConnections(), server.close()) });
    const { port } = server.address() as AddressInfo;
    const send = senderTo(['127.0.0.0/8']);
    for (let host = 1; host <= 100; host += 1)
      expect(await send(`http://127.0.0.${host}:${port}/`)).toMatchObject({ status: 200 });
    await eventually(() => connections <= 64);
  });

  it('sends a message again over a new connection when the receiver has closed the idle one', async () => {
    const seen = new Map<Socket, number>();
    const { port, connections } = await countingReceiver(({ socket }, response) => {
      seen.set(socket, (seen.get(socket) ?? 0) + 1);
      if (seen.get(socket) === 1) response.end('taken');
      else socket.destroy();
    });
    const send = senderTo(['127.0.0.1']);
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, head: 'taken' });
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, head: 'taken' });
    expect(connections()).toBe(2);
  });
});
