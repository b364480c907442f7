import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { Connections } from '../../src/server/http/client-connections.ts';
import { stopAccepting } from '../../src/server/http/listening.ts';
import { eventually } from '../support/eventually.ts';

/** Longer than the buffers of a connection. */
const longBody = Buffer.alloc(50_000_000, 'x');
const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`;

let server: Server;
let connections: Connections;
afterEach(() => server.closeAllConnections());

async function start(answer: RequestListener): Promise<void> {
  server = createServer(answer);
  connections = new Connections(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

/** Opens a connection, and returns both ends. The client end reads nothing by itself. */
async function openConnection(): Promise<{ socket: Socket; accepted: Socket }> {
  const connection = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[accepted]] = await Promise.all([connection, once(socket, 'connect')]);
  return { socket, accepted };
}

/** Everything that arrives until the server closes the connection. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += String(chunk);
  return text;
}

async function stopServer(): Promise<void> {
  const closed = once(server, 'close');
  stopAccepting(server);
  connections.closeIdle();
  await closed;
}

it('connections on which no request has come are closed', async () => {
  await start((_req, res) => res.end());
  const { socket } = await openConnection();
  const text = readAll(socket);
  await stopServer();
  expect(await text).toBe('');
});

it('connections that wait for the next request are closed', async () => {
  const { promise: answered, resolve: markAnswered } = Promise.withResolvers<void>();
  await start((_req, res) => res.once('close', markAnswered).end('done'));
  const { socket } = await openConnection();
  const text = readAll(socket);
  socket.write(request('/'));
  await answered;
  await stopServer();
  expect(await text).toContain('done');
});

it('an answer that is written but not sent yet is sent to its end, and then its connection is closed', async () => {
  await start((_req, res) => res.end(longBody));
  const { socket } = await openConnection();
  socket.write(request('/'));
  await once(server, 'request');
  const stopping = stopServer();
  const text = await readAll(socket);
  await stopping;
  expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(longBody.length);
});

it('a connection with pipelined requests is closed after the last answer', async () => {
  await start((req, res) => res.end(`answer to ${req.url};`));
  const { socket } = await openConnection();
  socket.write(request('/1') + request('/2') + request('/3'));
  await once(server, 'request');
  const stopping = stopServer();
  const text = await readAll(socket);
  await stopping;
  expect(text.match(/answer to \/\d;/g)).toEqual(['answer to /1;', 'answer to /2;', 'answer to /3;']);
});

it('a request whose head has only partly come is still answered', async () => {
  await start((_req, res) => res.end('done'));
  const { socket, accepted } = await openConnection();
  socket.write('GET / HTTP/1.1\r\nHo');
  await eventually(() => accepted.bytesRead > 0);
  const stopping = stopServer();
  socket.write('st: here\r\n\r\n');
  expect(await readAll(socket)).toContain('done');
  await stopping;
});
