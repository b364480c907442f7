import { clientGone, type Deadline } from '../../db/engine/deadline.ts';
import { AppError } from '../../resolvers/errors.ts';

/** The maximum number of requests that wait, and of bytes of their bodies, which are in memory already. */
const maxWaiting = 500;
const maxWaitingBytes = 8_000_000;
/** Documents of up to this size together, which take a millisecond or two, are prepared in one turn. */
const smallBytes = 2_048;
/** The maximum time for which other requests go first. */
const longestYieldMs = 50;

export const tooManyNew =
  'Too many new documents and large bodies are waiting for their turns; try again soon.';

interface Waiter {
  readonly begin: () => void;
  readonly refuse: () => void;
  readonly deadline: Deadline;
  readonly bytes: number;
  readonly group: string;
  /** Who makes room in a full queue: its workspace, or all clients without a token together. */
  readonly owner: string;
}

/**
 * The queue of requests with a new document or a large body. Reading, validating and compiling a document takes milliseconds in
 * which nothing else runs, and so does parsing a large body, which waits here as if it were a document. So the next document is
 * prepared only when the requests that arrived during the last one have been answered; small documents are prepared together. A
 * request that waits here is no sign of an overload, and may wait until its own deadline rather than for the time that the
 * admission queue allows. Requests are grouped by workspace, or by the network of a client without a token. The group whose last
 * turn was longest ago is next. When the queue is full, the workspace that fills most of it makes room for others; all clients without a
 * token count as one, because they may have many networks.
 */
export class DocumentQueue<Other> {
  readonly #waiting = new Set<Waiter>();
  #bytes = 0;
  /** The number of each group's last turn, the oldest first. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  /** The requests that the last document has delayed. They are answered before the next document. */
  #delayed: Set<Other> = new Set();
  /** True from the preparation of a document until all requests that arrived meanwhile have been accepted. */
  #isSettling = false;
  #lastTurnMs = Number.NEGATIVE_INFINITY;
  #arrivals = 0;
  #isTimerSet = false;
  readonly #inProgress: () => Iterable<Other>;
  readonly #wake: () => void;

  /** `inProgress` returns the other requests in progress. `wake` is called when time alone allows the next document. */
  constructor(inProgress: () => Iterable<Other>, wake: () => void) {
    this.#inProgress = inProgress;
    this.#wake = wake;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits until the document of this request may be prepared. Throws `unavailable` when the queue is full or time is over. */
  wait(deadline: Deadline, bytes: number, group: string, owner = group): Promise<void> {
    while (this.#waiting.size >= maxWaiting || this.#bytes + bytes > maxWaitingBytes)
      if (!this.#makeRoomFor(bytes, owner)) return Promise.reject(new AppError('unavailable', tooManyNew));
    return new Promise((resolve, reject) => {
      const stopListening = deadline.onDisconnect(() => {
        this.#remove(waiter);
        reject(new AppError('unavailable', clientGone));
      });
      const begin = () => {
        stopListening();
        resolve();
      };
      const refuse = () => {
        stopListening();
        reject(new AppError('unavailable', tooManyNew));
      };
      const waiter = { begin, refuse, deadline, bytes, group, owner };
      this.#waiting.add(waiter);
      this.#bytes += bytes;
    });
  }

  /**
   * When the next document may be prepared: `now` if no other request waits, `first` if it has waited long enough to go before other
   * requests; undefined while it has to wait.
   */
  due(nowMs: number): 'now' | 'first' | undefined {
    this.#dropLate();
    if (this.#isSettling || this.#waiting.size === 0) return undefined;
    const leftMs = this.#yieldMs(nowMs);
    if (leftMs <= 0) return 'first';
    if (this.#delayed.size === 0) return 'now';
    if (!this.#isTimerSet) setTimeout(() => this.#onTimer(), leftMs);
    this.#isTimerSet = true;
    return undefined;
  }

  #onTimer(): void {
    this.#isTimerSet = false;
    this.#wake();
  }

  /**
   * How much longer other requests go first. All waiting documents together give them a quarter of the time that the first one has
   * left, so each gives its share of it, and never more than `longestYieldMs`.
   */
  #yieldMs(nowMs: number): number {
    const [first] = this.#waiting;
    if (!first) return 0;
    const shareMs = first.deadline.leftMs / 4 / this.#waiting.size;
    return this.#lastTurnMs + Math.min(longestYieldMs, shareMs) - nowMs;
  }

  /**
   * Lets the next request prepare its document, and those after it while they are small together and there
   * is room for them. Returns how many begin.
   */
  begin(nowMs: number, room: number): number {
    let begun = 0;
    let bytes = 0;
    for (const waiter of this.#inOrder()) {
      bytes += waiter.bytes;
      if (begun > 0 && (begun >= room || bytes > smallBytes)) break;
      this.#remove(waiter);
      this.#noteTurn(waiter.group);
      waiter.begin();
      begun += 1;
    }
    if (begun === 0) return 0;
    this.#isSettling = true;
    this.#lastTurnMs = nowMs;
    // The first callback runs before sockets are polled, the second one after that.
    const seen = this.#arrivals;
    setImmediate(() => setImmediate(() => this.#settle(seen)));
    return begun;
  }

  #noteTurn(group: string): void {
    this.#turns += 1;
    this.#lastTurns.delete(group);
    this.#lastTurns.set(group, this.#turns);
    const [oldest] = this.#lastTurns.keys();
    if (oldest !== undefined && this.#lastTurns.size > maxWaiting) this.#lastTurns.delete(oldest);
  }

  /** The waiting requests. The group whose last turn was longest ago comes first, and within a group the oldest request. */
  #inOrder(): Waiter[] {
    const lastTurn = ({ group }: Waiter) => this.#lastTurns.get(group) ?? 0;
    return [...this.#waiting].sort((one, other) => lastTurn(one) - lastTurn(other));
  }

  /** A turn of the event loop accepts a single connection, so this waits for a turn in which no request arrives. */
  #settle(arrivals: number): void {
    const hasCome = this.#arrivals > arrivals;
    if (hasCome && this.#yieldMs(performance.now()) > 0) {
      const seen = this.#arrivals;
      setImmediate(() => this.#settle(seen));
      return;
    }
    this.#isSettling = false;
    this.#delayed = new Set(this.#inProgress());
    this.#wake();
  }

  /** Another request has arrived. */
  arrived(): void {
    this.#arrivals += 1;
  }

  /** Another request has been answered. */
  done(other: Other): void {
    this.#delayed.delete(other);
  }

  /** Removes requests whose time is over. Their deadlines are in no order: some have read a body first, with time of its own. */
  #dropLate(): void {
    for (const waiter of this.#waiting) {
      if (waiter.deadline.leftMs > 0) continue;
      this.#remove(waiter);
      waiter.refuse();
    }
  }

  /** Refuses the newest request of the owner that fills most of the queue. Returns false if that would be the owner of the new request. */
  #makeRoomFor(bytes: number, owner: string): boolean {
    const byOwner = new Map<string, { count: number; bytes: number; newest: Waiter }>();
    for (const waiter of this.#waiting) {
      const { count, bytes: before } = byOwner.get(waiter.owner) ?? { count: 0, bytes: 0 };
      byOwner.set(waiter.owner, { count: count + 1, bytes: before + waiter.bytes, newest: waiter });
    }
    const own = byOwner.get(owner) ?? { count: 0, bytes: 0 };
    const ownFill = fillOf({ count: own.count + 1, bytes: own.bytes + bytes });
    let largest: { fill: number; newest: Waiter } | undefined;
    for (const waiting of byOwner.values()) {
      const fill = fillOf(waiting);
      if (fill > (largest?.fill ?? ownFill)) largest = { fill, newest: waiting.newest };
    }
    if (!largest) return false;
    this.#remove(largest.newest);
    largest.newest.refuse();
    return true;
  }

  #remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#bytes -= waiter.bytes;
  }
}

/** How much of the queue an owner fills: 1 is all of it. */
function fillOf({ count, bytes }: { readonly count: number; readonly bytes: number }): number {
  return Math.max(count / maxWaiting, bytes / maxWaitingBytes);
}
