import type { Logger } from 'pino';
import { MemoryBuckets } from './rate-limit-memory.ts';
import type { Buckets, Levels, Quotas } from './rate-limit.ts';
import { recentlyUsed } from './recently-used.ts';
import { TimeoutError, withTimeout } from './with-timeout.ts';

/** What one caller's request is granted: the levels of its buckets, and how many further requests this process may grant by itself. */
export interface Grant extends Levels {
  readonly further: number;
}

/** The link to the process that holds the buckets. */
export interface LeaseLink {
  /** Takes one request out of the bucket. `unused` requests of an earlier grant are put back. Undefined if that process is gone. */
  take(caller: string, unused: number): Promise<Grant | undefined>;
  giveBack(caller: string, unused: number): void;
  charge(caller: string, cost: number): void;
}

/** How long further requests may be granted before they are given back. */
const leaseMs = 1_000;

/** How long a request waits for the supervisor: much longer than a busy supervisor takes, and less than the deadline of a request. */
const defaultWaitMs = 2_000;

/** The maximum number of callers with a lease; each request of any other caller goes to the supervisor. */
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
 * Buckets that the supervisor of several workers holds. A caller with many requests left gets a lease of several of them, so that most
 * requests are granted in this process; for a caller with few left, the supervisor decides on each request. If the supervisor does
 * not answer in time, this process counts by itself, and sends it nothing more until the late answer arrives.
 */
export class LeasedBuckets implements Buckets {
  readonly #quotas: Quotas;
  readonly #link: LeaseLink;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #waitMs: number;
  readonly #local: MemoryBuckets;
  #countsLocally = false;
  readonly #leases = recentlyUsed<Lease>(maxLeases);
  #sweep: NodeJS.Timeout | undefined;

  constructor({ quotas, link, logger, now = () => performance.now(), waitMs = defaultWaitMs }: LeaseOptions) {
    this.#quotas = quotas;
    this.#link = link;
    this.#logger = logger;
    this.#now = now;
    this.#waitMs = waitMs;
    this.#local = new MemoryBuckets(quotas, now);
  }

  take(caller: string): Levels | Promise<Levels> {
    const lease = this.#leases.get(caller);
    if (!lease || lease.further === 0 || lease.untilMs <= this.#now()) {
      return this.#countsLocally ? this.#local.take(caller) : this.#takeFromSupervisor(caller, lease);
    }
    lease.further -= 1;
    lease.requests -= 1;
    return { granted: true, requests: lease.requests, cost: lease.cost };
  }

  charge(caller: string, cost: number): number | undefined {
    if (this.#countsLocally) return this.#local.charge(caller, cost);
    const lease = this.#leases.peek(caller);
    if (lease) lease.cost -= cost;
    this.#link.charge(caller, cost);
    return undefined;
  }

  close(): void {
    clearTimeout(this.#sweep);
    this.#giveBack(Number.POSITIVE_INFINITY);
    this.#local.close();
  }

  async #takeFromSupervisor(caller: string, previous: Lease | undefined): Promise<Levels> {
    const unused = previous?.further ?? 0;
    this.#leases.delete(caller);
    const answer = this.#link.take(caller, unused);
    let grant: Grant | undefined;
    try {
      grant = await withTimeout(this.#waitMs, answer, 'The supervisor');
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      void answer.then((late) => this.#countWithSupervisor(caller, late));
      this.#countLocally(error);
      return this.#local.take(caller);
    }
    if (!grant) {
      // The supervisor is gone, so this worker is about to stop and no longer counts.
      return { granted: true, requests: this.#quotas.requests.limit, cost: this.#quotas.cost.limit };
    }
    const { granted, cost, further } = grant;
    // Concurrent requests of the caller may have got leases, too.
    const other = this.#leases.peek(caller)?.further ?? 0;
    const requests = grant.requests + further + other;
    if (further + other > 0) {
      const untilMs = this.#now() + leaseMs;
      this.#leases.set(caller, { further: further + other, requests, cost, untilMs });
      this.#sweep ??= setTimeout(() => this.#sweepLeases(), leaseMs).unref();
    }
    return { granted, requests, cost };
  }

  #countLocally(error: TimeoutError): void {
    if (!this.#countsLocally) {
      this.#logger.warn(
        { err: error },
        'The supervisor does not answer: this worker counts requests for itself',
      );
    }
    this.#countsLocally = true;
  }

  /** The supervisor has answered after all. Its grant was not used. */
  #countWithSupervisor(caller: string, late: Grant | undefined): void {
    if (late) this.#link.giveBack(caller, late.further + Number(late.granted));
    if (this.#countsLocally) this.#logger.info('The supervisor answers again: requests are counted together');
    this.#countsLocally = false;
  }

  #sweepLeases(): void {
    this.#giveBack(this.#now());
    this.#sweep = this.#leases.size > 0 ? setTimeout(() => this.#sweepLeases(), leaseMs).unref() : undefined;
  }

  /** Gives back the unused requests of all leases that end by `nowMs`. */
  #giveBack(nowMs: number): void {
    for (const [caller, { further, untilMs }] of this.#leases.entries()) {
      if (untilMs > nowMs) continue;
      this.#leases.delete(caller);
      if (further > 0) this.#link.giveBack(caller, further);
    }
  }
}
