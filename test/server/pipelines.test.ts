import { afterEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Pipelines } from '../../src/server/http/pipelines.ts';
import { eventually } from '../support/eventually.ts';

// A server that answers the first request of each connection only when the test says so.
interface Held {
  readonly server: Server;
  /** The answers that wait for the test. */
  readonly first: ServerResponse[];
  /** The server's ends of the connections. */
  readonly accepted: Socket[];
  readonly parsed: () => number;
  readonly begun: () => number;
}

const clients: Socket[] = [];
let held: Held;
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  held.server.closeAllConnections();
  held.server.close();
  await once(held.server, 'close');
});

async function hold(): Promise<Held> {
  const pipelines = new Pipelines();
  const first: ServerResponse[] = [];
  const accepted: Socket[] = [];
  let parsed = 0;
  let begun = 0;
  const server = createServer((req, res) => {
    parsed += 1;
    pipelines.enter(
      req,
      res,
      () => {
        begun += 1;
        if (req.url === '/first') first.push(res);
        else res.end('done');
      },
      () => res.writeHead(503).end(),
    );
  });
  server.on('connection', (socket: Socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, first, accepted, parsed: () => parsed, begun: () => begun };
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Opens a connection whose first request waits for its answer, and others behind it. */
function open(behind: string): Socket {
  const { port } = held.server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(client);
  client.write(request('/first') + behind);
  return client;
}

/** Unlike `once`, it takes a reset for a close. */
const closed = (client: Socket) => new Promise((resolve) => client.resume().once('close', resolve));

/** The number of requests that were parsed when the server has had several chances to read more. */
async function settled(): Promise<number> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  return held.parsed();
}

it('reads nothing more of a connection once it has refused a request', async () => {
  held = await hold();
  const client = open(request('/waits').repeat(33));
  await eventually(() => held.parsed() === 34);
  client.write(request('/more').repeat(100_000));
  expect(await settled()).toBe(34);
  held.first[0]?.end('done');
  await closed(client);
  expect([held.begun(), held.parsed()]).toEqual([33, 34]);
});

it('closes a connection at once when one packet holds hundreds of requests', async () => {
  held = await hold();
  await closed(open(request('/waits').repeat(400)));
  expect(held.begun()).toBe(1);
});

it('lets no more than 4,000 requests wait on all connections, and counts those of closed ones no more', async () => {
  held = await hold();
  const connections = 4_000 / 32;
  const fill = async () => {
    const before = held.parsed();
    const opened = Array.from({ length: connections }, () => open(request('/waits').repeat(32)));
    await eventually(() => held.parsed() === before + connections * 33);
    return opened;
  };
  const opened = await fill();
  await closed(open(request('/waits')));
  const isOpen = ({ destroyed }: Socket) => !destroyed;
  expect(held.accepted.filter(isOpen)).toHaveLength(connections);
  for (const client of opened) client.destroy();
  await eventually(() => !held.accepted.some(isOpen));
  await fill();
  expect(held.accepted.filter(isOpen)).toHaveLength(connections);
});
