import { afterEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Pipelines } from '../../src/server/http/pipelines.ts';
import { eventually } from '../support/eventually.ts';

/** A server that holds back the answer to the first request of each connection until the test sends it. */
interface HeldServer {
  readonly server: Server;
  /** The answers that wait for the test. */
  readonly first: ServerResponse[];
  /** The server's ends of the connections. */
  readonly accepted: Socket[];
  readonly parsed: () => number;
  readonly begun: () => number;
}

const clients: Socket[] = [];
let heldServer: HeldServer;
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  heldServer.server.closeAllConnections();
  heldServer.server.close();
  await once(heldServer.server, 'close');
});

async function startHeldServer(): Promise<HeldServer> {
  const pipelines = new Pipelines();
  const first: ServerResponse[] = [];
  const accepted: Socket[] = [];
  let parsedCount = 0;
  let begunCount = 0;
  const server = createServer((req, res) => {
    parsedCount += 1;
    pipelines.enter(
      req,
      res,
      () => {
        begunCount += 1;
        if (req.url === '/first') first.push(res);
        else res.end('done');
      },
      () => res.writeHead(503).end(),
    );
  });
  server.on('connection', (socket: Socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, first, accepted, parsed: () => parsedCount, begun: () => begunCount };
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Opens a connection, and sends a request whose answer is held back, with others behind it. */
function open(behind: string): Socket {
  const { port } = heldServer.server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(client);
  client.write(request('/first') + behind);
  return client;
}

/** Resolves when the connection is closed or reset; `once` would reject after a reset. */
const whenClosed = (client: Socket) => new Promise((resolve) => client.resume().once('close', resolve));

/** The number of parsed requests after several turns of the event loop, in which the server could have read more. */
async function parsedAfterTurns(): Promise<number> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  return heldServer.parsed();
}

it('the server reads nothing more of a connection once it has refused a request', async () => {
  heldServer = await startHeldServer();
  const client = open(request('/waits').repeat(33));
  await eventually(() => heldServer.parsed() === 34);
  client.write(request('/more').repeat(100_000));
  expect(await parsedAfterTurns()).toBe(34);
  heldServer.first[0]?.end('done');
  await whenClosed(client);
  expect([heldServer.begun(), heldServer.parsed()]).toEqual([33, 34]);
});

it('the server closes a connection at once when one packet holds hundreds of requests', async () => {
  heldServer = await startHeldServer();
  await whenClosed(open(request('/waits').repeat(400)));
  expect(heldServer.begun()).toBe(1);
});

it('the server lets no more than 4,000 requests wait on all connections, not counting those of closed ones', async () => {
  heldServer = await startHeldServer();
  const connections = 4_000 / 32;
  const fill = async () => {
    const before = heldServer.parsed();
    const openedClients = Array.from({ length: connections }, () => open(request('/waits').repeat(32)));
    await eventually(() => heldServer.parsed() === before + connections * 33);
    return openedClients;
  };
  const openedClients = await fill();
  await whenClosed(open(request('/waits')));
  const isOpen = ({ destroyed }: Socket) => !destroyed;
  expect(heldServer.accepted.filter(isOpen)).toHaveLength(connections);
  for (const client of openedClients) client.destroy();
  await eventually(() => !heldServer.accepted.some(isOpen));
  await fill();
  expect(heldServer.accepted.filter(isOpen)).toHaveLength(connections);
});
