import type { Deadline } from '../../db/engine/deadline.ts';
import { type Admission, AdmissionTicket, type Gate } from './admission.ts';

/** How many streams are opened at once. The other tickets are left to requests. */
const openedAtOnce = 8;
/** How long a stream may wait until it is opened. */
const waitMs = 5_000;
/** The maximum length of the queue, so that its memory is limited. */
const maxWaiting = 10_000;

interface Waiter {
  readonly begin: (ticket: AdmissionTicket) => void;
  readonly refuse: () => void;
  readonly ticket: AdmissionTicket;
  readonly timer: NodeJS.Timeout;
}

/**
 * Admits the requests that open streams, eight at a time and first come first served. So a thousand clients that reconnect after a
 * restart do not delay other requests, and wait in a queue instead of being refused as an overload.
 */
export class StreamAdmission implements Gate {
  readonly #admission: Admission;
  readonly #waiting = new Set<Waiter>();
  /** Requests that gave up their ticket while they read their body. They come before those that wait for their first ticket. */
  readonly #returning = new Set<Waiter>();
  #opening = 0;
  #isAdmitting = false;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** Calls `begin` or `refuse`, as `Admission.enter` does. */
  enter(
    begin: (ticket: AdmissionTicket) => void,
    refuse: () => void,
    returning?: AdmissionTicket,
  ): AdmissionTicket {
    const ticket = returning ?? new AdmissionTicket(this, this.#admission.newDeadline());
    const queue = returning ? this.#returning : this.#waiting;
    if (this.#opening < openedAtOnce) this.#admit({ begin, refuse, ticket });
    else if (queue.size >= maxWaiting) refuse();
    else {
      const drop = () => {
        clearTimeout(timer);
        if (queue.delete(waiter)) refuse();
      };
      const timer = setTimeout(drop, waitMs);
      const waiter = { begin, refuse, ticket, timer };
      queue.add(waiter);
      ticket.deadline.onDisconnect(drop);
    }
    return ticket;
  }

  async turn(deadline: Deadline, bytes: number, group: string, owner?: string): Promise<void> {
    await this.#admission.turn(deadline, bytes, group, owner);
    this.#opening += 1;
  }

  leave(ticket: AdmissionTicket): void {
    this.#admission.leave(ticket);
    this.#finishOpening();
  }

  #admit({ begin, refuse, ticket }: Omit<Waiter, 'timer'>): void {
    this.#opening += 1;
    const refused = () => {
      this.#finishOpening();
      refuse();
    };
    this.#admission.enter(begin, refused, ticket);
  }

  #finishOpening(): void {
    this.#opening -= 1;
    // Clients that have disconnected give their tickets back at once, which would call this recursively, thousands of times.
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    for (const queue of [this.#returning, this.#waiting]) {
      for (const next of queue) {
        if (this.#opening >= openedAtOnce) break;
        queue.delete(next);
        clearTimeout(next.timer);
        next.ticket.deadline.renew();
        this.#admit(next);
      }
    }
    this.#isAdmitting = false;
  }
}
