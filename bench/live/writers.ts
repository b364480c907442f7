import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../http/connection.ts';
import type { DemoServer } from './demo-server.ts';

/** The time of each acknowledgement by `performance.now()`, by the id of its request. */
export type Acknowledgements = Map<string, number>;

const create = 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id } } }';

/** Creates a number of issues from several connections, at most at a total rate. */
export async function writeIssues(
  { port, token, teamId }: Pick<DemoServer, 'port' | 'token' | 'teamId'>,
  {
    connections,
    perSecond,
    count,
    fields = {},
    onWritten,
  }: {
    connections: number;
    perSecond: number;
    count: number;
    fields?: object;
    onWritten?: (requestId: string, atMs: number) => void;
  },
): Promise<Acknowledgements> {
  const written: Acknowledgements = new Map();
  const beganMs = performance.now();
  let next = 0;
  const work = async () => {
    const connection = await Connection.open(port);
    while (next < count) {
      const index = next;
      next += 1;
      const dueMs = beganMs + (index / perSecond) * 1_000;
      const inMs = dueMs - performance.now();
      if (inMs > 1) await delay(inMs);
      const requestId = `w-${beganMs.toFixed(0)}-${index}`;
      const { status, body } = await connection.send({
        method: 'POST',
        path: '/graphql',
        headers: { Authorization: `Bearer ${token}`, 'X-Request-Id': requestId },
        body: JSON.stringify({
          query: create,
          variables: { input: { teamId, title: `Live ${index}`, ...fields } },
        }),
      });
      const atMs = performance.now();
      if (status !== 200 || body.includes('"errors"'))
        throw new Error(`A write was refused: ${String(body)}`);
      written.set(requestId, atMs);
      onWritten?.(requestId, atMs);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return written;
}
