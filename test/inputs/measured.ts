import { maxStallMs, type MeasuredApp } from '../support/measured-app.ts';
import type { RawAnswer } from '../support/openapi.ts';
import type { Client, Wire } from './client.ts';

/** Other causes of a stall, such as a garbage collection, do not occur in every attempt. */
const attempts = 3;

/**
 * Sends a request, and repeats it if it blocks others for too long. Returns the first answer and the
 * shortest stall, in milliseconds of a machine of the usual speed.
 */
export async function sendMeasured(
  app: MeasuredApp,
  client: Client,
  wire: Wire,
): Promise<{ answer: RawAnswer; stallMs: number }> {
  const answer = await client.send(wire);
  let stallMs = await app.stall();
  for (let attempt = 2; stallMs > maxStallMs && attempt <= attempts; attempt += 1) {
    const { status } = await client.send(wire);
    const repeatedMs = await app.stall();
    // A server that is still busy may refuse the repetition unread.
    if (status === answer.status) stallMs = Math.min(stallMs, repeatedMs);
  }
  // The memory of some machines answers several times as slowly for an hour, and everything takes as much longer.
  if (stallMs > maxStallMs) stallMs /= await app.slowness();
  return { answer, stallMs };
}
