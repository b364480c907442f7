import { Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { Contexts } from '../../src/server/context.ts';
import { postOf } from '../../src/server/graphql/web-socket-request.ts';
import { Clients } from '../../src/server/http/clients.ts';
import { Admission, type AdmissionTicket } from '../../src/server/limits/admission.ts';

/** Reads bodies that arrive at the same time. Returns the round of the event loop in which each is parsed. */
async function roundsOf(bodies: readonly string[]): Promise<number[]> {
  const admission = new Admission({ maxConcurrency: 16, queueWaitMs: 60_000, requestTimeoutMs: 60_000 });
  const services = { contexts: {} as Contexts, clients: new Clients({}), clientMs: 60_000 };
  const parsedRounds: number[] = [];
  let round = 0;
  for (const body of bodies) {
    const request = postOf({ headers: {}, socket: new Socket() }, { body, authorization: '' }, services);
    const begin = (ticket: AdmissionTicket) => {
      request.ticket = ticket;
      void request.body().then(() => parsedRounds.push(round));
    };
    admission.enter(begin, () => undefined);
  }
  while (parsedRounds.length < bodies.length) {
    await nextRound();
    round += 1;
  }
  return parsedRounds;
}

it('large bodies are parsed one in a round of the event loop', async () => {
  const rounds = await roundsOf(Array.from({ length: 5 }, () => ' '.repeat(16_385)));
  expect(new Set(rounds).size).toBe(5);
});

it('small bodies are parsed at once', async () => {
  expect(await roundsOf(Array.from({ length: 5 }, () => ' '.repeat(16_384)))).toEqual([0, 0, 0, 0, 0]);
});
