import type { Logger } from 'pino';
import { MemoryBuckets } from './rate-limit-memory.ts';
import type { Buckets, Levels, Quotas } from './rate-limit.ts';
import { recentlyUsed } from './recently-used.ts';
import { LateError, within } from './within.ts';

/** What one caller's request is granted: the levels of its buckets, and how many further requests may be granted without asking. */
export interface Grant extends Levels {
  readonly further: number;
}

/** The link to the process that holds the buckets. */
export interface LeaseLink {
  /** Asks for one request. `unused` requests of an earlier grant are put back. Undefined if that process is gone. */
  take(caller: string, unused: number): Promise<Grant | undefined>;
  giveBack(caller: string, unused: number): void;
  charge(caller: string, cost: number): void;
}

/** How long further requests may be granted before they are given back. */
const leaseMs = 1_000;

/** How long a request waits for the supervisor: much longer than a busy one takes, and less than a request may take. */
const defaultWaitMs = 2_000;

/** The maximum number of callers with a lease; for others, each request asks the supervisor. */
const maxLeases = 10_000;

interface Lease {
  further: number;
  requests: number;
  cost: number;
  untilMs: number;
}

interface LeaseOptions {
  readonly quotas: Quotas;
  readonly link: LeaseLink;
  readonly logger: Logger;
  readonly now?: () => number;
  readonly waitMs?: number;
}

/**
 * Buckets that the supervisor of several workers holds. A caller with much left gets a lease of several requests, so that most
 * requests are granted in this process; the supervisor decides on each request of a caller that has little left. While the
 * supervisor does not answer, this process counts by itself and asks no more, until the answer for which it has waited arrives.
 */
export class LeasedBuckets implements Buckets {
  readonly #quotas: Quotas;
  readonly #link: LeaseLink;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #waitMs: number;
  readonly #alone: MemoryBuckets;
  #isAlone = false;
  readonly #leases = recentlyUsed<Lease>(maxLeases);
  #sweep: NodeJS.Timeout | undefined;

  constructor({ quotas, link, logger, now = () => performance.now(), waitMs = defaultWaitMs }: LeaseOptions) {
    this.#quotas = quotas;
    this.#link = link;
    this.#logger = logger;
    this.#now = now;
    this.#waitMs = waitMs;
    this.#alone = new MemoryBuckets(quotas, now);
  }

  take(caller: string): Levels | Promise<Levels> {
    const lease = this.#leases.get(caller);
    if (!lease || lease.further === 0 || lease.untilMs <= this.#now()) {
      return this.#isAlone ? this.#alone.take(caller) : this.#ask(caller, lease);
    }
    lease.further -= 1;
    lease.requests -= 1;
    return { granted: true, requests: lease.requests, cost: lease.cost };
  }

  charge(caller: string, cost: number): number | undefined {
    if (this.#isAlone) return this.#alone.charge(caller, cost);
    const lease = this.#leases.peek(caller);
    if (lease) lease.cost -= cost;
    this.#link.charge(caller, cost);
    return undefined;
  }

  close(): void {
    clearTimeout(this.#sweep);
    this.#giveBack(Number.POSITIVE_INFINITY);
    this.#alone.close();
  }

  async #ask(caller: string, ended: Lease | undefined): Promise<Levels> {
    const unused = ended?.further ?? 0;
    this.#leases.delete(caller);
    const answer = this.#link.take(caller, unused);
    let grant: Grant | undefined;
    try {
      grant = await within(this.#waitMs, answer, 'The supervisor');
    } catch (error) {
      if (!(error instanceof LateError)) throw error;
      void answer.then((late) => this.#comeBack(caller, late));
      this.#leave(error);
      return this.#alone.take(caller);
    }
    if (!grant) {
      // The supervisor is gone, so this worker is about to stop and no longer counts.
      return { granted: true, requests: this.#quotas.requests.limit, cost: this.#quotas.cost.limit };
    }
    const { granted, cost, further } = grant;
    // Requests of the caller that asked at the same time may have got leases, too.
    const other = this.#leases.peek(caller)?.further ?? 0;
    const requests = grant.requests + further + other;
    if (further + other > 0) {
      const untilMs = this.#now() + leaseMs;
      this.#leases.set(caller, { further: further + other, requests, cost, untilMs });
      this.#sweep ??= setTimeout(() => this.#sweepLeases(), leaseMs).unref();
    }
    return { granted, requests, cost };
  }

  #leave(error: LateError): void {
    if (!this.#isAlone) {
      this.#logger.warn(
        { err: error },
        'The supervisor does not answer: this worker counts requests for itself',
      );
    }
    this.#isAlone = true;
  }

  /** The supervisor has answered after all. Its grant was not used. */
  #comeBack(caller: string, late: Grant | undefined): void {
    if (late) this.#link.giveBack(caller, late.further + Number(late.granted));
    if (this.#isAlone) this.#logger.info('The supervisor answers again: requests are counted together');
    this.#isAlone = false;
  }

  #sweepLeases(): void {
    this.#giveBack(this.#now());
    this.#sweep = this.#leases.size > 0 ? setTimeout(() => this.#sweepLeases(), leaseMs).unref() : undefined;
  }

  /** Returns the rest of leases that have ended by then. */
  #giveBack(nowMs: number): void {
    for (const [caller, { further, untilMs }] of this.#leases.entries()) {
      if (untilMs > nowMs) continue;
      this.#leases.delete(caller);
      if (further > 0) this.#link.giveBack(caller, further);
    }
  }
}
