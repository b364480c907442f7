import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventStream } from '../../src/rest-compat/event-chunks.ts';
import { Unsent } from '../../src/server/http/unsent.ts';

/** The maximum size of an event that is framed once for all streams. */
const smallBytes = 8_192;

/** Pieces of a stream: texts, and bytes that other streams send as well. Some are longer than the buffers of a connection. */
const piece = fc.oneof(
  fc.constantFrom('retry: 2000\n', 'id: x\n\n'),
  fc.integer({ min: 1, max: smallBytes }).map((size) => Buffer.alloc(size, 'a')),
  fc.integer({ min: 65_000, max: 3_000_000 }).map((size) => Buffer.alloc(size, 'b')),
);

/** A stream of these pieces, with a heartbeat after each tenth. */
function streamOf(pieces: readonly (string | Uint8Array)[]): EventStream {
  const stream: EventStream = {
    onHeartbeat: undefined,
    async *[Symbol.asyncIterator]() {
      for (const [index, each] of pieces.entries()) {
        yield each;
        if (index % 10 > 0) continue;
        stream.onHeartbeat?.();
        await nextTurn();
      }
    },
  };
  return stream;
}

/** A server that answers each request with a stream. */
async function serve(unsent: Unsent, stream: () => EventStream): Promise<Server> {
  const server = createServer((_, res) => void unsent.events(res, stream()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Sends a request of HTTP/1.0, whose answer has no chunks, and reads nothing yet. */
function requestWithoutChunks(server: Server): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.write('GET / HTTP/1.0\r\n\r\n');
  return socket;
}

/** Reads the body of the answer. */
async function bodyOf(socket: Socket): Promise<string> {
  const text = String(await buffer(socket));
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

it('a client receives all events of a stream in order, with heartbeats between them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (samples) => {
      const pieces = samples.flatMap((each) => (each.length > smallBytes ? each : Array(50).fill(each)));
      const unsent = new Unsent({ maxBytes: 100_000_000, silenceMs: 60_000 });
      const server = await serve(unsent, () => streamOf(pieces));
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      const bodies = await Promise.all([
        fetch(url).then((answer) => answer.text()),
        fetch(url).then((answer) => answer.text()),
        bodyOf(requestWithoutChunks(server)),
      ]);
      server.close();
      for (const body of bodies) expect(body.replaceAll(':\n\n', '')).toBe(pieces.map(String).join(''));
      expect(unsent.load).toEqual({ bytes: 0, cut: 0 });
    }),
    { numRuns: 15 },
  );
});

it('a client that reads one large event slowly but steadily receives all of it', async () => {
  const cuts: number[] = [];
  const unsent = new Unsent({
    maxBytes: 100_000_000,
    silenceMs: 2_500,
    onCut: (_, silentMs) => cuts.push(silentMs),
  });
  const large = Buffer.alloc(24_000_000, 'a');
  const server = await serve(unsent, () => streamOf(['retry: 2000\n', large, 'id: x\n\n']));
  const socket = requestWithoutChunks(server);
  let bytes = 0;
  // This takes about five seconds.
  for await (const chunk of socket) {
    bytes += (chunk as Buffer).length;
    await delay(10);
  }
  server.close();
  expect(cuts).toEqual([]);
  expect(bytes).toBeGreaterThan(large.length);
});

it('a client that reads late receives small events from where its stream had to wait', async () => {
  const unsent = new Unsent({ maxBytes: 100_000_000, silenceMs: 60_000 });
  const small = Buffer.alloc(1_000, 'a');
  let sent = 0;
  let isHeld = false;
  const server = await serve(unsent, () => ({
    onHeartbeat: undefined,
    async *[Symbol.asyncIterator]() {
      for (let hadToWait = false; !hadToWait; hadToWait = isHeld) {
        yield small;
        sent += 1;
      }
      for (const last = sent + 1_000; sent < last; sent += 1) yield small;
    },
  }));
  const socket = requestWithoutChunks(server);
  // Bytes are held only when the connection accepts no more.
  while (unsent.load.bytes === 0) await nextTurn();
  isHeld = true;
  const body = await bodyOf(socket);
  server.close();
  expect(body).toBe(String(small).repeat(sent));
});
