import { expect, it } from '@jest/globals';
import { Admission, type AdmissionTicket, type Gate } from '../../src/server/limits/admission.ts';
import { StreamAdmission } from '../../src/server/limits/stream-admission.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { listen } from '../live/event-stream.ts';

const { app, world } = useIssueWorld({ settings: { STREAMS_PER_TOKEN: '300' } });

const limits = { maxConcurrency: 16, queueWaitMs: 1, requestTimeoutMs: 60_000 };

/** Enters a gate several times, and collects the tickets that it gets. */
function enterGate(gate: Gate, count: number) {
  const entries = { tickets: [] as AdmissionTicket[], refused: 0 };
  for (let made = 0; made < count; made += 1) {
    gate.enter(
      (ticket) => entries.tickets.push(ticket),
      () => {
        entries.refused += 1;
      },
    );
  }
  return entries;
}

it('stream admission opens eight streams at once, and leaves the other tickets to requests', () => {
  const admission = new Admission(limits);
  const streams = enterGate(new StreamAdmission(admission), 40);
  expect(streams.tickets).toHaveLength(8);
  expect(enterGate(admission, 8).tickets).toHaveLength(8);
  expect(admission.load).toEqual({ inProgress: 16, waiting: 0, refused: 0 });
});

it('stream admission opens the next stream when one is open, and refuses none of a burst', () => {
  const admission = new Admission(limits);
  const streams = enterGate(new StreamAdmission(admission), 40);
  for (const ticket of streams.tickets) {
    ticket.leave();
    ticket.leave();
  }
  expect(streams).toMatchObject({ refused: 0, tickets: { length: 40 } });
  expect(admission.load).toEqual({ inProgress: 0, waiting: 0, refused: 0 });
});

it('stream admission passes the tickets of clients that have disconnected on to the others', () => {
  const streamAdmission = new StreamAdmission(new Admission(limits));
  const { tickets } = enterGate(streamAdmission, 8);
  let disconnectedCount = 0;
  for (let made = 0; made < 9_000; made += 1) {
    streamAdmission.enter(
      (ticket) => {
        disconnectedCount += 1;
        ticket.leave();
      },
      () => undefined,
    );
  }
  const last = enterGate(streamAdmission, 1);
  for (const ticket of tickets) ticket.leave();
  expect(disconnectedCount).toBe(9_000);
  expect(last.tickets).toHaveLength(1);
});

it('stream admission returns a ticket to a stream that has read its body before it opens those that wait', async () => {
  const streamAdmission = new StreamAdmission(new Admission(limits));
  const { tickets } = enterGate(streamAdmission, 8);
  const { promise: body, resolve: read } = Promise.withResolvers<void>();
  const reading = tickets[0]?.whileSuspended(body);
  const waiting = enterGate(streamAdmission, 2);
  // The ticket of the first stream was free while it read its body.
  expect(waiting.tickets).toHaveLength(1);
  read();
  await body;
  await Promise.resolve();
  tickets[1]?.leave();
  await reading;
  expect(waiting.tickets).toHaveLength(1);
  tickets[0]?.leave();
  expect(waiting.tickets).toHaveLength(2);
});

it('stream admission refuses a stream when the requests of an overload leave no ticket for it', async () => {
  const admission = new Admission({ ...limits, maxConcurrency: 1 });
  enterGate(admission, 1);
  let refuse = (): void => undefined;
  const refused = new Promise<void>((resolve) => (refuse = resolve));
  const streamAdmission = new StreamAdmission(admission);
  streamAdmission.enter(() => undefined, refuse);
  await refused;
  expect(admission.load).toEqual({ inProgress: 1, waiting: 0, refused: 1 });
});

it('the server opens 200 streams that are requested at the same time', async () => {
  const streams = await Promise.all(
    Array.from({ length: 200 }, () => listen(`${app.url}/v1/changes`, world.ada.token)),
  );
  expect(new Set(streams.map(({ response }) => response.status))).toEqual(new Set([200]));
  for (const stream of streams) stream.stop();
});
