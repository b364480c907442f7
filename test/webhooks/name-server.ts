import { createSocket } from 'node:dgram';
import { once } from 'node:events';

interface NameServer {
  /** Its address, as a resolver takes it. */
  readonly server: string;
  /** The names that clients have queried. */
  readonly queriedNames: ReadonlySet<string>;
  /** Answers the queries for the names with the entry `held`: that the names do not exist. */
  readonly answerHeld: () => void;
  readonly close: () => void;
}

const aRecord = 1;
const serverFailure = 2;
const noSuchName = 3;

/**
 * Starts a name server. It answers a name with the IPv4 addresses that it has, says that a name without an entry does not exist, and
 * does not answer for a name with the entry `held`; for one with `fails` it reports a failure, and one with `loops` is an alias of
 * itself.
 */
export async function startNameServer(
  entries: Readonly<Record<string, readonly string[] | 'held' | 'fails' | 'loops'>>,
): Promise<NameServer> {
  const queriedNames = new Set<string>();
  const held: (() => void)[] = [];
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    queriedNames.add(name);
    const entry = entries[name];
    const answer = (addresses: readonly string[] | undefined) =>
      socket.send(
        answerOf(query.subarray(0, end), type === aRecord ? addresses : addresses && []),
        port,
        address,
      );
    if (entry === 'fails')
      socket.send(answerOf(query.subarray(0, end), undefined, serverFailure), port, address);
    else if (entry === 'loops') socket.send(loopOf(query.subarray(0, end)), port, address);
    else if (entry === 'held') held.push(() => answer(undefined));
    else answer(entry);
  });
  return {
    server: `127.0.0.1:${socket.address().port}`,
    queriedNames,
    answerHeld: () => {
      for (const answer of held.splice(0)) answer();
    },
    close: () => socket.close(),
  };
}

/** The answer to a query without what follows the question: that the name is an alias of itself. */
function loopOf(question: Buffer): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180, 2);
  for (const [index, count] of [1, 0, 0].entries()) head.writeUInt16BE(count, 6 + 2 * index);
  // The name twice, each time by a pointer to that of the question; between them type CNAME, class IN, 60 s, and two bytes.
  return Buffer.concat([head, Buffer.from('c00c000500010000003c0002c00c', 'hex')]);
}

/** The answer to a query without what follows the question: these addresses, or that there is no such name. */
function answerOf(question: Buffer, addresses: readonly string[] | undefined, failure = noSuchName): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (addresses ? 0 : failure), 2);
  const counts = [addresses?.length ?? 0, 0, 0];
  for (const [index, count] of counts.entries()) head.writeUInt16BE(count, 6 + 2 * index);
  const records = (addresses ?? []).map((each) =>
    Buffer.from([0xc0, 12, 0, aRecord, 0, 1, 0, 0, 0, 5, 0, 4, ...each.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}

/** The name and the type of the only question of a query, and where it ends. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}
