import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventStream } from '../../src/rest-compat/events.ts';
import { Unsent } from '../../src/server/http/unsent.ts';

/** What is sent: texts, and bytes that other streams send as well. Some are longer than a connection takes at once. */
const piece = fc.oneof(
  fc.constantFrom('retry: 2000\n', 'id: x\n\n'),
  fc.integer({ min: 1, max: 8_192 }).map((size) => Buffer.alloc(size, 'a')),
  fc.integer({ min: 65_000, max: 3_000_000 }).map((size) => Buffer.alloc(size, 'b')),
);

/** A stream of these pieces, with a heartbeat after each tenth. */
function streamOf(pieces: readonly (string | Uint8Array)[]): EventStream {
  const stream: EventStream = {
    onBeat: undefined,
    async *[Symbol.asyncIterator]() {
      for (const [index, each] of pieces.entries()) {
        yield each;
        if (index % 10 > 0) continue;
        stream.onBeat?.();
        await nextTurn();
      }
    },
  };
  return stream;
}

async function serve(pieces: readonly (string | Uint8Array)[], unsent: Unsent): Promise<Server> {
  const server = createServer((_, res) => void unsent.events(res, streamOf(pieces)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** What a client of HTTP/1.0 receives, which knows no chunks. */
async function readPlainly(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.0\r\n\r\n');
  const text = String(await buffer(socket));
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

it('a client receives all events of a stream in order, with heartbeats between them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (some) => {
      const pieces = some.flatMap((each) => (each.length > 8_192 ? each : Array(50).fill(each)));
      const unsent = new Unsent({ maxBytes: 100_000_000, silenceMs: 60_000 });
      const server = await serve(pieces, unsent);
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}`;
      const bodies = await Promise.all([
        fetch(url).then((answer) => answer.text()),
        fetch(url).then((answer) => answer.text()),
        readPlainly(port),
      ]);
      server.close();
      for (const body of bodies) expect(body.replaceAll(':\n\n', '')).toBe(pieces.map(String).join(''));
      expect(unsent.load).toEqual({ bytes: 0, cut: 0 });
    }),
    { numRuns: 15 },
  );
}, 120_000);

it('a client that reads late receives small events from where its stream had to wait', async () => {
  const unsent = new Unsent({ maxBytes: 100_000_000, silenceMs: 60_000 });
  const small = Buffer.alloc(1_000, 'a');
  let sent = 0;
  const stream: EventStream = {
    onBeat: undefined,
    async *[Symbol.asyncIterator]() {
      for (let hasWaited = false; !hasWaited; sent += 1) {
        yield small;
        // Only where the connection takes no more is something held.
        hasWaited = held;
      }
      for (const last = sent + 1_000; sent < last; sent += 1) yield small;
    },
  };
  let held = false;
  const server = createServer((_, res) => void unsent.events(res, stream));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.write('GET / HTTP/1.0\r\n\r\n');
  while (unsent.load.bytes === 0) await nextTurn();
  held = true;
  const text = String(await buffer(socket));
  server.close();
  expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe(String(small).repeat(sent));
}, 20_000);
