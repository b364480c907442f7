import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Deadline } from '../../src/db/engine/deadline.ts';
import { Admission, AdmissionTicket } from '../../src/server/limits/admission.ts';

const limits = { maxConcurrency: 16, queueWaitMs: 60_000, requestTimeoutMs: 60_000 };

const unavailable = { status: 'rejected', reason: { code: 'unavailable' } };

/** Takes a ticket that is free. */
function enter(admission: Admission): AdmissionTicket {
  let free: AdmissionTicket | undefined;
  admission.enter(
    (ticket) => {
      free = ticket;
    },
    () => undefined,
  );
  if (!free) throw new Error('No ticket is free.');
  return free;
}

/** Waits for several rounds of the event loop: more than a turn and the pause after it take. */
async function nextRounds(count = 10): Promise<void> {
  for (let round = 0; round < count; round += 1) await nextRound();
}

/** Requests with new documents that wait for their turns; `tickets` are those of requests that have had their turns. */
function newDocuments(admission: Admission, count: number, bytes = 5_000, group = '', owner = group) {
  const tickets: AdmissionTicket[] = [];
  const refused: unknown[] = [];
  const waiting = Array.from({ length: count }, async () => {
    const ticket = enter(admission);
    try {
      await ticket.turn(bytes, group, owner);
      tickets.push(ticket);
    } catch (error) {
      refused.push(error);
    }
  });
  return { tickets, refused, settled: Promise.all(waiting) };
}

describe('requests with new documents', () => {
  it('hold no ticket while they wait to be parsed', async () => {
    const admission = new Admission(limits);
    newDocuments(admission, 100);
    await Promise.resolve();
    expect(admission.load).toEqual({ inProgress: 1, waiting: 99, refused: 0 });
  });

  it('make room in a full queue if their group fills most of it', async () => {
    const admission = new Admission(limits);
    const many = newDocuments(admission, 600, 5_000, 'many');
    const few = newDocuments(admission, 3, 5_000, 'few');
    const more = newDocuments(admission, 1, 5_000, 'many');
    await nextRounds(1);
    // One of the 600 has its turn at once.
    expect([many.refused.length, few.refused.length, more.refused.length]).toEqual([102, 0, 1]);
  });

  it('of clients without a token make room for others, however many networks they have', async () => {
    const admission = new Admission(limits);
    const visitors = Array.from({ length: 600 }, (_, network) =>
      newDocuments(admission, 1, 5_000, `network ${network}`, 'visitors'),
    );
    const one = newDocuments(admission, 1, 5_000, 'one');
    await nextRounds(1);
    expect(visitors.filter(({ refused }) => refused.length > 0)).toHaveLength(100);
    expect(one.refused).toEqual([]);
  });

  it('make room for large ones if those of their group are larger together', async () => {
    const admission = new Admission(limits);
    newDocuments(admission, 1, 5_000, 'first');
    const large = newDocuments(admission, 8, 1_000_000, 'large');
    const one = newDocuments(admission, 1, 1_500_000, 'one');
    await nextRounds(1);
    expect([large.refused.length, one.refused.length]).toEqual([2, 0]);
  });

  it('are parsed together in a round of the event loop while they are small together', async () => {
    const admission = new Admission(limits);
    const { tickets, settled } = newDocuments(admission, 10, 1_000);
    const parsedPerRound: number[] = [];
    while (tickets.length < 10) {
      const before = tickets.length;
      await nextRound();
      if (tickets.length > before) parsedPerRound.push(tickets.length - before);
    }
    await settled;
    expect(Math.max(...parsedPerRound)).toBe(2);
    expect(admission.load).toEqual({ inProgress: 10, waiting: 0, refused: 0 });
  });

  it('of a workspace that has had no turn go before those of one that has had some', async () => {
    const admission = new Admission(limits);
    const busy = newDocuments(admission, 10, 5_000, 'busy');
    while (busy.tickets.length === 0) await nextRound();
    const before = busy.tickets.length;
    await newDocuments(admission, 1, 5_000, 'other').settled;
    expect(busy.tickets.length - before).toBeLessThanOrEqual(1);
    await busy.settled;
  });

  it('are parsed at most one in a round of the event loop', async () => {
    const admission = new Admission(limits);
    const { tickets, settled } = newDocuments(admission, 10);
    let before = tickets.length;
    while (tickets.length < 10) {
      await nextRound();
      expect(tickets.length - before).toBeLessThanOrEqual(1);
      before = tickets.length;
    }
    await settled;
    for (const ticket of tickets) ticket.leave();
    expect(admission.load).toEqual({ inProgress: 0, waiting: 0, refused: 0 });
  });

  it('let a request that came during one parse be answered before the next parse', async () => {
    // Time stands still, so the other requests do not take too long.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const admission = new Admission(limits);
    const { tickets } = newDocuments(admission, 3);
    while (tickets.length === 0) await Promise.resolve();
    const knownTicket = enter(admission);
    await nextRounds();
    expect(tickets).toHaveLength(1);
    // This request arrived after the turn, so the second turn does not wait for it.
    const laterTicket = enter(admission);
    knownTicket.leave();
    await nextRounds(1);
    expect(tickets).toHaveLength(2);
    await nextRounds();
    expect(tickets).toHaveLength(2);
    laterTicket.leave();
    await nextRounds(1);
    expect(tickets).toHaveLength(3);
    clock.mockRestore();
  });

  it('go on when the others take too long', async () => {
    const admission = new Admission(limits);
    const { settled } = newDocuments(admission, 3);
    enter(admission);
    await settled;
    expect(admission.load).toMatchObject({ inProgress: 4, waiting: 0 });
  });

  it('get a free ticket when other requests have been preferred for long', async () => {
    const admission = new Admission({ ...limits, maxConcurrency: 1 });
    const first = enter(admission);
    const knownTicket = new Promise<AdmissionTicket>((resolve) => {
      admission.enter(resolve, () => undefined);
    });
    // This returns the ticket, which the waiting request gets.
    const turn = first.turn(0, '');
    const after = new Promise<AdmissionTicket>((resolve) => {
      admission.enter(resolve, () => undefined);
    });
    (await knownTicket).leave();
    await turn;
    expect(admission.load).toMatchObject({ inProgress: 1, waiting: 1 });
    first.leave();
    (await after).leave();
    expect(admission.load).toEqual({ inProgress: 0, waiting: 0, refused: 0 });
  });

  it('are not refused for waiting, however little a request may wait for a ticket', async () => {
    const admission = new Admission({ ...limits, queueWaitMs: 1 });
    const { tickets, refused, settled } = newDocuments(admission, 200);
    let answeredCount = 0;
    while (tickets.length < 200) {
      await nextRound();
      for (; answeredCount < tickets.length; answeredCount += 1) tickets[answeredCount]?.leave();
    }
    await settled;
    expect(refused).toEqual([]);
    expect(admission.load.refused).toBe(0);
  });

  it('are refused when too many wait, or too much would be kept in memory', async () => {
    const admission = new Admission(limits);
    const { refused } = newDocuments(admission, 502);
    await Promise.resolve();
    await Promise.resolve();
    expect(refused).toMatchObject([{ code: 'unavailable' }]);
    const emptyAdmission = new Admission(limits);
    const turns = Array.from({ length: 11 }, () => enter(emptyAdmission).turn(1_000_000, ''));
    await expect(Promise.race(turns.slice(9))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('leave the queue when their client disconnects and when their deadline passes', async () => {
    const admission = new Admission(limits);
    newDocuments(admission, 2);
    const disconnected = enter(admission);
    const turn = disconnected.turn(0, '');
    expect(admission.load.waiting).toBe(2);
    disconnected.deadline.abort();
    await expect(turn).rejects.toMatchObject({ code: 'unavailable' });
    expect(admission.load.waiting).toBe(1);
    const expired = enter(new Admission({ ...limits, requestTimeoutMs: 1 }));
    while (expired.deadline.leftMs > 0) await nextRound();
    await expect(expired.turn(0, '')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('are refused when their deadline has passed, also behind others that have time left', async () => {
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const admission = new Admission(limits);
    const { tickets } = newDocuments(admission, 2, 1_000);
    const shortTicket = new AdmissionTicket(admission, new Deadline({ withinMs: 10, waitMs: 10 }));
    admission.enter(
      () => undefined,
      () => undefined,
      shortTicket,
    );
    const turn = Promise.allSettled([shortTicket.turn(0, '')]);
    nowMs = 100;
    await nextRounds();
    expect(await turn).toMatchObject([unavailable]);
    expect(tickets).toHaveLength(2);
    expect(admission.load).toEqual({ inProgress: 2, waiting: 0, refused: 0 });
    clock.mockRestore();
  });

  it('keep no ticket when they were answered while they waited', async () => {
    const admission = new Admission(limits);
    const { tickets } = newDocuments(admission, 1);
    const answered = enter(admission);
    const turn = Promise.allSettled([answered.turn(0, '')]);
    answered.leave();
    expect(await turn).toMatchObject([unavailable]);
    expect(admission.load).toEqual({ inProgress: 1, waiting: 0, refused: 0 });
    tickets[0]?.leave();
    await expect(answered.turn(0, '')).rejects.toMatchObject({ code: 'unavailable' });
    expect(admission.load).toEqual({ inProgress: 0, waiting: 0, refused: 0 });
  });
});
