import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../http/connection.ts';
import type { Place } from './place.ts';

/** The time of each acknowledgement by the id of its request, on the clock of `performance`. */
export type Written = Map<string, number>;

const create = 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id } } }';

/** Creates issues from several connections, so many a second in all if they can, for a time or a number of them. */
export async function writeIssues(
  { port, token, teamId }: Pick<Place, 'port' | 'token' | 'teamId'>,
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
): Promise<Written> {
  const written: Written = new Map();
  const beganMs = performance.now();
  let next = 0;
  const work = async () => {
    const connection = await Connection.open(port);
    while (next < count) {
      const place = next;
      next += 1;
      const dueMs = beganMs + (place / perSecond) * 1_000;
      const inMs = dueMs - performance.now();
      if (inMs > 1) await delay(inMs);
      const requestId = `w-${beganMs.toFixed(0)}-${place}`;
      const { status, body } = await connection.send({
        method: 'POST',
        path: '/graphql',
        headers: { Authorization: `Bearer ${token}`, 'X-Request-Id': requestId },
        body: JSON.stringify({
          query: create,
          variables: { input: { teamId, title: `Live ${place}`, ...fields } },
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
