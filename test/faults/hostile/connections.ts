import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { ms, quantile } from '../support/fault.ts';
import { type Figure, memoryDuring, stallDuring, type Target } from './target.ts';

const sockets = 60;
const requestsOfEach = 20;
const watchedForMs = 40_000;

/** Finding 4: clients that ask for large answers and read none of them. */
export async function slowReaders(target: Target): Promise<Figure[]> {
  return [
    await readNothing(target, 'one request for the schema', manySchemas, 1),
    await readNothing(target, `${requestsOfEach} requests for 250 issues`, manyIssues, requestsOfEach),
  ];
}

async function readNothing(target: Target, what: string, query: string, times: number): Promise<Figure> {
  const { service, token } = target;
  const { hostname, port } = new URL(service.url);
  const body = JSON.stringify({ query });
  const request =
    `POST /graphql HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const open = new Set<Socket>();
  const began = performance.now();
  const { beforeMb, maxMb } = await memoryDuring(target, async () => {
    for (let n = 0; n < sockets; n++) {
      const socket = connect({ host: hostname, port: Number(port) });
      open.add(socket);
      // Never read: answers fill the buffers of the kernel, and then those of the server.
      socket.pause();
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
      socket.write(request.repeat(times));
      await delay(20);
    }
    while (open.size > 0 && performance.now() - began < watchedForMs) {
      await delay(250);
      // A paused socket detects that it was closed only when it writes.
      for (const socket of open) socket.write('\r\n');
    }
  });
  const left = open.size;
  const tookMs = performance.now() - began;
  for (const socket of open) socket.destroy();
  return {
    what: `4. ${sockets} sockets that read nothing, each with ${what}`,
    measured: `memory ${beforeMb} → ${maxMb} MB, ${left} still open after ${ms(tookMs)}`,
    holds: left === 0 && maxMb - beforeMb <= 250,
  };
}

/** The query of finding 2, where the server accepts it. */
const manySchemas = `{ ${Array.from({ length: 190 }, (_, n) => `a${n}: __schema { types { fields { description } } }`).join(' ')} }`;
const manyIssues = `{ issues(first: 250) { nodes { id key title description createdUtc updatedUtc
  team { id code name } status { id name color description } reporter { displayName avatarUrl } labels { id name color } } } }`;

const tinyChunks = 990_000;

/** A body in chunks of one byte, without a token. */
export async function chunksOfOneByte(target: Target): Promise<Figure[]> {
  const { hostname, port, host } = new URL(target.service.url);
  const head = `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const body = Buffer.from(`${head}${'1\r\nx\r\n'.repeat(tinyChunks)}0\r\n\r\n`);
  const { result: answer, stallMs } = await stallDuring(target, async () => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.on('data', (bytes) => (received += String(bytes))).on('error', () => undefined);
    socket.write(body);
    await new Promise((resolve) => socket.once('close', resolve));
    return received.slice(9, 12);
  });
  return [
    {
      what: `11. a body of ${tinyChunks.toLocaleString('en')} chunks of a byte, without a token`,
      measured: `${answer || 'no answer'}, event loop blocked ${ms(stallMs)}`,
      holds: stallMs <= 100,
    },
  ];
}

const unknownForMs = 6_000;
const connections = 16;

/** Finding 6: unknown tokens, sent as fast as they are refused. */
export async function unknownTokens(target: Target): Promise<Figure[]> {
  const { service, token } = target;
  const alone = await reading(service.url, token, unknownForMs);
  const statuses = new Map<number, number>();
  const until = performance.now() + unknownForMs;
  let tried = 0;
  const guess = async () => {
    const client = new Client(service.url);
    while (performance.now() < until) {
      const headers = { Authorization: `Bearer wg_${String(tried++).padStart(43, 'x')}` };
      // 0 is a connection that was cut.
      const answer = await client.send({ path: '/v1/teams?page_size=1', headers }).catch(() => undefined);
      const status = answer?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    client.close();
  };
  const [beside] = await Promise.all([
    reading(service.url, token, unknownForMs),
    ...Array.from({ length: connections }, guess),
  ]);
  const answers = [...statuses]
    .map(([status, count]) => `${count.toLocaleString('en')} × ${status}`)
    .join(', ');
  return [
    {
      what: `6. unknown tokens for ${unknownForMs / 1_000} s from ${connections} connections`,
      measured: `${answers}; p99 of a known token ${ms(alone.p99Ms)} alone, ${ms(beside.p99Ms)} beside it, ${beside.failed} of its requests failed`,
      holds: (statuses.get(429) ?? 0) > 0 && beside.failed === 0,
    },
  ];
}

async function reading(url: string, token: string, forMs: number) {
  const client = new Client(url, token);
  const took: number[] = [];
  let failed = 0;
  for (const until = performance.now() + forMs; performance.now() < until; await delay(10)) {
    const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
    if (answer?.status === 200) took.push(answer.ms);
    else failed++;
  }
  client.close();
  return { p99Ms: quantile(took, 0.99), failed };
}
