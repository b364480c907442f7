import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { changesChannel, selectHeads } from '../db/changes.ts';
import type { Database } from '../db/engine/engine.ts';
import type { Channels } from '../db/engine/listener.ts';

/** The interval at which the positions of watched workspaces are read, in case a notification was missed. */
const pollMs = 1_000;
/** How many streams and requests are woken in one turn of the event loop. */
const wokenAtOnce = 500;
/**
 * The shortest time between two wakes of a workspace; changes that come faster are read together. It is longer for many streams,
 * because each wake then costs more.
 */
const gatherMs = (waiting: number) => Math.min(10 + waiting / 4, 250);

interface WatchedWorkspace {
  /** The newest position that is known; 0 if none is. */
  position: number;
  /** The arrivals of each stream and of each request that waits. */
  readonly listening: Set<Arrivals>;
  /** The number of the newest arrival, unique among all workspaces. */
  newestArrival: number;
  /** When its streams and requests were woken for it, on the clock of `performance`. */
  wokenMs: number;
  /** When the first position since the last wake was noted. */
  notedMs: number;
  /** The timer of the next wake, if one is due. */
  wakeTimer: NodeJS.Timeout | undefined;
}

/** Wakes the streams and waiting requests of this process when their workspace has new changes. */
export class ChangeWatch {
  readonly #database: Pick<Database, 'unscoped'>;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #watched = new Map<string, WatchedWorkspace>();
  readonly #poll: NodeJS.Timeout;
  #isClosed = false;
  /** The number of the newest arrival in any workspace. */
  #newestArrival = 0;
  #onAny: (workspaceId: string) => void = () => undefined;

  constructor(database: Pick<Database, 'unscoped'>, logger: Pick<Logger, 'warn'>) {
    this.#database = database;
    this.#logger = logger;
    // It starts here and not with the first stream, because the statements of a timer count for the request that starts it.
    this.#poll = setInterval(() => void this.#pollPositions(), pollMs).unref();
  }

  /** The channel on which PostgreSQL announces positions that other processes have assigned. */
  get channels(): Channels {
    return {
      [changesChannel]: {
        onNotification: (payload) => {
          const [workspaceId = '', position] = payload.split(' ');
          this.note(workspaceId, Number(position));
        },
        // The poll finds what was missed.
        onGap: () => undefined,
      },
    };
  }

  /** Begins to listen for new changes of a workspace. From now on every arrival is noted, even between two calls of `next`. */
  arrivals(workspaceId: string): Arrivals {
    const watched = this.#watched.get(workspaceId) ?? this.#begin(workspaceId);
    const arrivals = new Arrivals(watched, () => {
      watched.listening.delete(arrivals);
      if (watched.listening.size > 0) return;
      clearTimeout(watched.wakeTimer);
      this.#watched.delete(workspaceId);
    });
    watched.listening.add(arrivals);
    if (this.#isClosed) arrivals.end();
    return arrivals;
  }

  /** Whether nothing can wait here any longer, because the process is about to stop. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls the listener after changes of any workspace, with its id. There is one listener. */
  onAny(listener: (workspaceId: string) => void): void {
    this.#onAny = listener;
  }

  /** Notes that the workspace has changes up to a position. */
  note(workspaceId: string, position: number): void {
    this.#onAny(workspaceId);
    const watched = this.#watched.get(workspaceId);
    if (!watched || watched.position === position) return;
    watched.position = position;
    if (watched.wakeTimer) return;
    watched.notedMs = performance.now();
    // All are woken at the same time, so that equal streams share their reads.
    const inMs = Math.max(watched.wokenMs + gatherMs(watched.listening.size) - watched.notedMs, 0);
    watched.wakeTimer = setTimeout(() => void this.#wakeAll(watched), inMs);
  }

  #begin(workspaceId: string): WatchedWorkspace {
    this.#newestArrival += 1;
    const begun: WatchedWorkspace = {
      position: 0,
      listening: new Set(),
      newestArrival: this.#newestArrival,
      wokenMs: 0,
      notedMs: 0,
      wakeTimer: undefined,
    };
    this.#watched.set(workspaceId, begun);
    return begun;
  }

  async #wakeAll(watched: WatchedWorkspace): Promise<void> {
    watched.wakeTimer = undefined;
    watched.wokenMs = performance.now();
    this.#newestArrival += 1;
    const arrival = this.#newestArrival;
    watched.newestArrival = arrival;
    let wokenCount = 0;
    for (const arrivals of watched.listening) {
      arrivals.arrive();
      wokenCount += 1;
      if (wokenCount % wokenAtOnce > 0) continue;
      await nextTurn();
      // Another arrival has come meanwhile, whose call wakes everyone again.
      if (watched.newestArrival !== arrival) return;
    }
  }

  /** Ends all waiting, spread over the time, so that the clients do not all reconnect at once. */
  close(overMs = 0): void {
    clearInterval(this.#poll);
    this.#isClosed = true;
    for (const { listening } of this.#watched.values()) {
      for (const arrivals of listening) {
        if (overMs === 0) arrivals.end();
        else setTimeout(() => arrivals.end(), Math.random() * overMs);
      }
    }
  }

  async #pollPositions(): Promise<void> {
    if (this.#watched.size === 0) return;
    try {
      const heads = await selectHeads(this.#database.unscoped, [...this.#watched.keys()]);
      for (const { workspaceId, position } of heads) this.note(workspaceId, position);
    } catch (error) {
      this.#logger.warn({ err: error }, 'the positions of changes could not be read');
    }
  }
}

/** The arrivals of new changes in a workspace, as one stream or waiting request sees them. */
export class Arrivals {
  readonly #watched: Readonly<Omit<WatchedWorkspace, 'listening'>>;
  readonly #onEnd: () => void;
  #hasArrived = false;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;
  /** Ends the wait in progress. */
  #wake: (() => void) | undefined;

  constructor(watched: Readonly<Omit<WatchedWorkspace, 'listening'>>, onEnd: () => void) {
    this.#watched = watched;
    this.#onEnd = onEnd;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The number of the newest arrival. A read that begins afterwards finds its changes. */
  get arrival(): number {
    return this.#watched.newestArrival;
  }

  /** The newest position that is known; 0 if none is. */
  get position(): number {
    return this.#watched.position;
  }

  /** When the newest arrival was noted, on the clock of `performance`; 0 if nothing has arrived yet. */
  get notedMs(): number {
    return this.#watched.notedMs;
  }

  /**
   * Resolves with true when changes have arrived since the last call; with false when the watch ends, when the wait is
   * interrupted, or when the time is up, if there is one. Throws the error with which the wait was ended.
   */
  async next(ms?: number): Promise<boolean> {
    if (!this.#hasArrived && !this.#isEnded && !this.#failure) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
      clearTimeout(timer);
    }
    if (this.#failure) throw this.#failure.error;
    const hasArrived = this.#hasArrived && !this.#isEnded;
    this.#hasArrived = false;
    return hasArrived;
  }

  /** Notes that changes have arrived, and ends the wait in progress. */
  arrive(): void {
    this.#hasArrived = true;
    this.#wake?.();
  }

  /** Ends the wait in progress, as if its time was up. */
  interrupt(): void {
    this.#wake?.();
  }

  /** Ends the wait in progress and every later one with an error. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake?.();
  }

  /** Stops listening, and ends the wait in progress. A second call does nothing: others may watch the workspace by then. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd();
    this.#wake?.();
  }
}
