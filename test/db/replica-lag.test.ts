import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { ServerPool } from '../../src/db/engine/postgres.ts';
import { Replicas } from '../../src/db/engine/replicas.ts';
import { eventually } from '../support/eventually.ts';

/** A server that answers every simple query with one row of texts. */
class PositionServer {
  queryCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(row: () => Record<string, string>) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      let isStarted = false;
      socket
        .on('error', () => undefined)
        .on('data', (bytes) => {
          if (!isStarted) {
            isStarted = true;
            socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
          } else if (bytes[0] === 'Q'.charCodeAt(0)) {
            this.queryCount += 1;
            socket.write(answer(row()));
          }
        });
    });
  }

  async start(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `postgres://nobody@127.0.0.1:${(this.#server.address() as AddressInfo).port}/nothing`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const ready = message('Z', Buffer.from('I'));

function answer(row: Record<string, string>): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(Object.keys(row).length);
  const fields = Object.keys(row).map((name) => {
    const field = Buffer.alloc(18);
    field.writeInt32BE(25, 6);
    return Buffer.concat([Buffer.from(`${name}\0`), field]);
  });
  const cells = Object.values(row).map((text) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(text.length);
    return Buffer.concat([length, Buffer.from(text)]);
  });
  const done = message('C', Buffer.from('SELECT 1\0'));
  return Buffer.concat([
    message('T', Buffer.concat([count, ...fields])),
    message('D', Buffer.concat([count, ...cells])),
    done,
    ready,
  ]);
}

it('a replica serves only the database of the primary, after it has reached a position whose time is known', async () => {
  const lsn = (bytes: number) => `0/${bytes.toString(16)}`;
  const written = { primary: 2_000_000, replica: 1_000_000 };
  const primary = new PositionServer(() => {
    written.primary += 100;
    return { file: '000000010000000000000001', lsn: lsn(written.primary), database: '1/2' };
  });
  const state = { replica: 't', database: '1/2' };
  const replica = new PositionServer(() => ({ ...state, lsn: lsn(written.replica), timeline: '1' }));
  const url = await primary.start();
  const pool = new ServerPool({ url });
  const replicas = new Replicas({ url }, pool, [await replica.start()]);
  const problems: (string | undefined)[] = [];
  replicas.onChange((_replica, problem) => problems.push(problem));
  /** Expects that the replica serves nothing once both have said several times where they are. */
  const expectNothingServed = async () => {
    const before = [primary.queryCount, replica.queryCount] as const;
    await eventually(() => primary.queryCount > before[0] + 2 && replica.queryCount > before[1] + 2);
    expect(replicas.choose(undefined)).toBeUndefined();
  };
  await expectNothingServed();
  await eventually(() => problems.length > 0);
  written.replica = written.primary;
  await eventually(() => replicas.choose(undefined) !== undefined);
  state.replica = 'f';
  await eventually(() => problems.length > 2);
  state.replica = 't';
  await eventually(() => problems.length > 3);
  // Another database of the same standby has the same position.
  state.database = '1/3';
  await eventually(() => problems.length > 4);
  await expectNothingServed();
  state.database = '1/2';
  await eventually(() => problems.length > 5);
  expect(problems).toEqual([
    'it is too far behind, or it is not known yet how far',
    undefined,
    'it is not a replica, or was promoted',
    undefined,
    'its database is not that of DATABASE_URL, or it is a standby of another primary',
    undefined,
  ]);
  // The replica stands still, and the times of the positions are forgotten.
  primary.cut();
  await eventually(() => replicas.choose(undefined) === undefined);
  await expectNothingServed();
  await replicas.close();
  await pool.end();
  primary.close();
  replica.close();
});
