import { Deadline } from '../../db/engine/deadline.ts';
import { AppError, raise } from '../../resolvers/errors.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import { DocumentQueue } from './document-queue.ts';

/** How many requests a server handles at once, and how long they may take. */
export interface AdmissionLimits {
  readonly maxConcurrency: number;
  /** How long a request may wait in total, for admission and for database connections. */
  readonly queueWaitMs: number;
  readonly requestTimeoutMs: number;
}

export const defaultAdmission: AdmissionLimits = {
  maxConcurrency: 16,
  queueWaitMs: 600,
  requestTimeoutMs: 5_500,
};

/** A queue that lasts longer than this is an overload and not a burst. */
const burstMs = 400;
/** The overload lasts at least this long after a refusal. */
const overloadMs = 1_000;
/** How long a request waits in an overload: requests are either handled quickly or refused quickly. */
const overloadWaitMs = 20;
/** How often requests that have waited too long are refused. */
const sweepMs = 10;
/** How many requests are refused at once. More would delay the requests in progress. */
const refusedAtOnce = 2;
/** The maximum length of the queue, so that its memory is limited. */
const maxWaiting = 2_000;

export const busy = 'The server is overloaded; try again soon.';

interface Waiter {
  readonly begin: (ticket: AdmissionTicket) => void;
  readonly refuse: () => void;
  readonly ticket: AdmissionTicket;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Limits the requests in progress. In a burst, requests wait, first come first served. In an overload, waiting would only make all
 * answers late: the newest request goes first, others are refused within milliseconds, and fewer requests are in progress if
 * that completes as many.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #waiting: Waiter[] = [];
  #inProgress = 0;
  #refused = 0;
  /** When the current queue began. */
  #queueSinceMs = 0;
  #lastRefusalMs = Number.NEGATIVE_INFINITY;
  #isSweepDue = false;
  readonly #adaptive: AdaptiveConcurrency;
  /** The tickets of requests in progress, without those that wait in `#documents`. */
  readonly #inProgressTickets = new Set<AdmissionTicket>();
  readonly #documents: DocumentQueue<AdmissionTicket>;

  constructor(limits: AdmissionLimits = defaultAdmission) {
    this.#limits = limits;
    this.#adaptive = new AdaptiveConcurrency(limits.maxConcurrency);
    this.#documents = new DocumentQueue(
      () => this.#inProgressTickets,
      () => this.#giveTurn(),
    );
  }

  get load(): { inProgress: number; waiting: number; refused: number } {
    const waiting = this.#waiting.length + this.#documents.waiting;
    return { inProgress: this.#inProgress, waiting, refused: this.#refused };
  }

  /** The deadline of a request that arrives now. */
  newDeadline(): Deadline {
    const { requestTimeoutMs, queueWaitMs } = this.#limits;
    return new Deadline({ withinMs: requestTimeoutMs, waitMs: queueWaitMs });
  }

  /**
   * Calls `begin` or `refuse`, immediately or later. A request that begins must give its ticket back. One whose deadline is
   * abandoned while it waits is refused at once, and makes room for others.
   */
  enter(
    begin: (ticket: AdmissionTicket) => void,
    refuse: () => void,
    ticket = new AdmissionTicket(this, this.newDeadline()),
  ): AdmissionTicket {
    this.#documents.arrived();
    const sinceMs = performance.now();
    const isOverloaded = this.#isOverloaded(sinceMs);
    const { maxConcurrency, queueWaitMs } = this.#limits;
    if (!isOverloaded) this.#adaptive.reset();
    if (this.#inProgress < this.#concurrency(isOverloaded)) {
      this.#inProgress += 1;
      this.#begin(begin, ticket);
      return ticket;
    }
    if (this.#waiting.length === 0) this.#queueSinceMs = sinceMs;
    const waitMs = isOverloaded ? overloadWaitMs : queueWaitMs;
    const waiter = { begin, refuse, ticket, sinceMs, untilMs: sinceMs + waitMs };
    this.#waiting.push(waiter);
    ticket.deadline.onDisconnect(() => this.#drop(waiter));
    // In an overload, older requests would never begin. A long queue is refused step by step.
    const maxLength = isOverloaded ? maxConcurrency : maxWaiting;
    for (let count = 0; count < refusedAtOnce && this.#waiting.length > maxLength; count++)
      this.#refuse(this.#waiting.shift());
    if (!this.#isSweepDue) {
      this.#isSweepDue = true;
      setTimeout(() => this.#sweep(), sweepMs);
    }
    return ticket;
  }

  /**
   * Gets a ticket again when the new document of the request may be prepared. `bytes` is the memory that the request takes
   * meanwhile; `group` is its workspace or network, since groups have turns alternately, and `owner` is who makes room for others in a
   * full queue. Throws `unavailable`.
   */
  turn(deadline: Deadline, bytes: number, group: string, owner?: string): Promise<void> {
    const turn = this.#documents.wait(deadline, bytes, group, owner);
    this.#giveTurn();
    return turn;
  }

  /** Passes the ticket on to the next request. */
  leave(ticket: AdmissionTicket): void {
    const nowMs = performance.now();
    this.#inProgressTickets.delete(ticket);
    this.#documents.done(ticket);
    const isOverloaded = this.#isOverloaded(nowMs);
    if (isOverloaded) this.#adaptive.note(nowMs);
    const isTooMany = this.#inProgress > this.#concurrency(isOverloaded);
    if (!isTooMany && this.#documents.due(nowMs) === 'first') {
      // A request with a new document gets the ticket.
      this.#documents.begin(nowMs, 1);
      return;
    }
    const next = isTooMany ? undefined : isOverloaded ? this.#waiting.pop() : this.#waiting.shift();
    if (!next) {
      this.#inProgress -= 1;
      this.#giveTurn();
      return;
    }
    next.ticket.deadline.waited(nowMs - next.sinceMs);
    this.#begin(next.begin, next.ticket);
  }

  #begin(begin: Waiter['begin'], ticket: AdmissionTicket): void {
    this.#inProgressTickets.add(ticket);
    begin(ticket);
  }

  /** Gives free tickets to requests with a new document, if no other request waits for a ticket. */
  #giveTurn(): void {
    const nowMs = performance.now();
    const max = this.#concurrency(this.#isOverloaded(nowMs));
    if (this.#waiting.length > 0 || this.#inProgress >= max || !this.#documents.due(nowMs)) return;
    this.#inProgress += this.#documents.begin(nowMs, max - this.#inProgress);
  }

  /** How many requests may be in progress now. */
  #concurrency(isOverloaded: boolean): number {
    const { maxConcurrency } = this.#limits;
    return isOverloaded ? Math.min(this.#adaptive.concurrency, maxConcurrency) : maxConcurrency;
  }

  #isOverloaded(nowMs: number): boolean {
    const isLongQueue = this.#waiting.length > 0 && nowMs - this.#queueSinceMs > burstMs;
    return isLongQueue || nowMs - this.#lastRefusalMs < overloadMs;
  }

  /** Refuses the requests that have waited too long. */
  #sweep(): void {
    const nowMs = performance.now();
    const [late, inTime] = partition(this.#waiting, ({ untilMs }) => untilMs <= nowMs);
    this.#waiting.splice(0, this.#waiting.length, ...inTime);
    for (const waiter of late) this.#refuse(waiter);
    this.#isSweepDue = this.#waiting.length > 0;
    if (this.#isSweepDue) setTimeout(() => this.#sweep(), sweepMs);
  }

  /** Removes a request whose client has gone. That is no sign of an overload, so it does not count as a refusal. */
  #drop(waiter: Waiter): void {
    const index = this.#waiting.indexOf(waiter);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    waiter.refuse();
  }

  #refuse(waiter: Waiter | undefined): void {
    this.#refused += 1;
    this.#lastRefusalMs = performance.now();
    waiter?.refuse();
  }
}

/** Where requests get their tickets: all of them, or those that open streams. */
export type Gate = Pick<Admission, 'enter' | 'turn' | 'leave'>;

/** What a request holds while it is in progress. */
export class AdmissionTicket {
  readonly deadline: Deadline;
  readonly #gate: Gate;
  /**
   * `suspended`: given back while the request waits for its client or for a turn. `ended`: the request has been answered. Its work may
   * still be waiting then, because it was answered when its time was over.
   */
  #state: 'held' | 'suspended' | 'ended' = 'held';
  #shareOf: (() => Admission) | undefined;
  /** The share of its workspace, while the request has a place there. */
  #share: Admission | undefined;

  constructor(gate: Gate, deadline: Deadline) {
    this.#gate = gate;
    this.deadline = deadline;
  }

  /** Gives the ticket back for good. */
  leave(): void {
    const isHeld = this.#state === 'held';
    this.#state = 'ended';
    this.#leaveShare();
    if (isHeld) this.#gate.leave(this);
  }

  /** Gives the ticket back until the new document of the request may be prepared. Throws `unavailable`. */
  async turn(bytes: number, group: string, owner?: string): Promise<void> {
    this.#suspend();
    await this.#gate.turn(this.deadline, bytes, group, owner);
    this.#resume();
  }

  /**
   * Takes one of the places of its workspace. While none is free, it gives its ticket back, so that requests of other workspaces begin.
   * Throws `unavailable`.
   */
  async join(shareOf: () => Admission): Promise<void> {
    this.#shareOf = shareOf;
    const share = shareOf();
    const entered = new Promise<void>((resolve, reject) => {
      const begin = () => {
        this.#share = share;
        resolve();
      };
      share.enter(begin, () => reject(new AppError('unavailable', busy)), this);
    });
    if (this.#share) return;
    this.#suspend();
    await entered;
    await this.#enterAgain();
  }

  /**
   * Gives the ticket back while it waits for the client, so that slow clients do not block others. Afterwards the request has a
   * ticket again, and new time to work. Throws `unavailable`. A request waits for one thing at a time: two waits would take a ticket
   * each when they end.
   */
  async whileSuspended<Result>(wait: Promise<Result>): Promise<Result> {
    if (this.#state === 'suspended') throw new Error('The request is already waiting.');
    this.#suspend();
    this.deadline.pause();
    const result = await wait;
    await this.#enterAgain(() => this.deadline.renew());
    if (this.#shareOf) await this.join(this.#shareOf);
    return result;
  }

  async #enterAgain(begun?: () => void): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        begun?.();
        resolve();
      };
      const refuse = () => {
        this.#leaveShare();
        reject(new AppError('unavailable', busy));
      };
      this.#gate.enter(begin, refuse, this);
    });
    this.#resume();
  }

  #suspend(): void {
    if (this.#state !== 'held') return;
    this.#state = 'suspended';
    this.#leaveShare();
    this.#gate.leave(this);
  }

  #resume(): void {
    if (this.#state !== 'ended') {
      this.#state = 'held';
      return;
    }
    this.#leaveShare();
    this.#gate.leave(this);
    raise('unavailable', 'The request has been answered.');
  }

  #leaveShare(): void {
    this.#share?.leave(this);
    this.#share = undefined;
  }
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const { first = [], second = [] } = Object.groupBy(items, (item) => (isFirst(item) ? 'first' : 'second'));
  return [first, second];
}
