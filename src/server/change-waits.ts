import { Semaphore } from '../db/engine/semaphore.ts';
import type { EventAnswers, OperationContext } from '../executor/run/execute.ts';
import type { Arrivals } from '../live/change-watch.ts';
import { Cohorts } from '../live/cohorts.ts';
import { Audiences } from '../live/audiences.ts';
import { CatchUps } from '../live/catch-ups.ts';
import { beatMs, LiveStream, cursorMs } from '../live/event-stream.ts';
import type { LiveChanges } from '../live/live-changes.ts';
import { Pulse } from '../live/pulse.ts';
import { type LogAccess, SharedLog } from '../live/shared-log.ts';
import { Slices } from '../db/engine/slices.ts';
import type { EventChunk, EventStream, StreamSource } from '../rest-compat/event-chunks.ts';
import { parseCursor, maxSharedChanges } from '../resolvers/changes/changes.ts';
import { type ChangeArrivals, type Principal, requireSignedIn } from '../resolvers/context.ts';
import { raise } from '../resolvers/errors.ts';
import type { Admission } from './limits/admission.ts';
import { withRequestLimits } from './limits/request-limits.ts';
import { stoppingMessage } from './stopping.ts';
import { StreamTokens } from './stream-tokens.ts';

/** The part of a request that waiting needs. */
export interface WaitingRequest {
  /** Gives the admission ticket to another request while it waits. */
  whileSuspended<Result>(wait: Promise<Result>): Promise<Result>;
  /** Throws if the client has disconnected, or if the time of the request is over. */
  check(): void;
  /** Calls the listener when the client disconnects; returns a function that removes the listener. */
  onDisconnect(listener: () => void): () => void;
}

/** How the token of an idle stream or connection is checked. */
export interface TokenChecks {
  /** The same text for all streams and connections of the token. */
  readonly token: string;
  /** The principal, if it is cached. */
  cachedPrincipalInBackground(): Promise<Principal | undefined>;
  /** Throws the same errors as the authentication of a request. */
  authenticate(): Promise<Principal>;
}

/** The permissions of a stream's token, checked again before each chunk. */
export interface StreamRights extends TokenChecks {
  /** The principal, if it is cached. Throws `rate_limited` if the token has no objects left. */
  cachedPrincipal(): Principal | undefined;
  contextOf(principal: Principal): OperationContext;
  charge(objects: number): void;
}

/** What the chunks of a stream are read with. */
interface ChunkSource extends Pick<StreamSource<OperationContext>, 'readAfter' | 'cohort'> {
  readonly rights: StreamRights;
  readonly arrivals: Arrivals;
}

/**
 * The maximum number of streams that deliver at once, and of those that check their tokens at once, in addition to the
 * requests in progress.
 */
const maxChunksAtOnce = 4;

/** Lets requests wait for changes of their workspaces, and wakes up their streams. */
export class ChangeWaits {
  readonly #live: Pick<LiveChanges, 'watch' | 'openStreams' | 'limits' | 'counts'>;
  readonly #chunks = new Semaphore(maxChunksAtOnce);
  readonly #catchUps = new CatchUps();
  readonly #checks = new Semaphore(maxChunksAtOnce);
  readonly #slices = new Slices();
  readonly #audiences = new Audiences(this.#slices);
  readonly #beats = new Pulse(beatMs);
  readonly #cursors = new Pulse(cursorMs);
  readonly #tokens = new StreamTokens();
  readonly #firstChunks = new Cohorts<EventChunk>();
  readonly #cohorts = new Cohorts<EventChunk>();
  readonly #answers = new Cohorts<EventAnswers>();
  readonly #log: SharedLog;
  readonly #admission: Admission;

  constructor(live: Pick<LiveChanges, 'watch' | 'openStreams' | 'limits' | 'counts'>, admission: Admission) {
    this.#live = live;
    this.#admission = admission;
    this.#log = new SharedLog((work) => this.#withLimits(work));
  }

  /** How many reads of streams were made, and how many were saved because equal streams shared them. */
  get reads(): Readonly<{ made: number; saved: number }> {
    return this.#cohorts.counts;
  }

  /** Lets one request wait for changes. `authenticate` checks its token again before it reads what has arrived. */
  arrivalsFor(
    request: WaitingRequest,
    principal: Principal,
    authenticate: () => Promise<Principal | undefined>,
  ): ChangeArrivals {
    return {
      waiting: async (ms, work) => {
        const { arrivals, leave } = this.#enter(request, principal);
        const untilMs = performance.now() + Math.min(ms, this.#live.limits.waitMs);
        try {
          return await work(async () => {
            const leftMs = untilMs - performance.now();
            if (leftMs <= 0 || !(await request.whileSuspended(arrivals.next(leftMs)))) return undefined;
            return authenticate();
          });
        } finally {
          leave();
        }
      },
    };
  }

  /**
   * The first chunk of a stream. Streams with an equal `inputKey` that begin while nothing arrives share it, such as those of
   * all clients after a restart.
   */
  async first(principal: Principal, inputKey: string, read: () => Promise<EventChunk>): Promise<EventChunk> {
    // Arrivals are noted only while a subscriber listens.
    const arrivals = this.#live.watch.arrivals(principal.workspaceId);
    try {
      const key = keyOf(principal, `${arrivals.arrival} ${inputKey}`);
      return await this.#firstChunks.read(key, () => this.#withPermit(this.#chunks, read));
    } finally {
      arrivals.end();
    }
  }

  /** A stream that begins with its first chunk. Throws `too_many_streams`. */
  stream(
    request: WaitingRequest,
    principal: Principal,
    rights: StreamRights,
    { first, readAfter, pageTest, errorChunk, cohort, face }: StreamSource<OperationContext>,
  ): EventStream {
    const { watch, counts } = this.#live;
    if (watch.isClosed) raise('unavailable', stoppingMessage);
    const cleanups: (() => void)[] = [];
    const { arrivals, leave } = this.#enter(request, principal, () => {
      counts.streams[face] -= 1;
      for (const cleanUp of cleanups) cleanUp();
    });
    counts.streams[face] += 1;
    // Something may have arrived between the first chunk and now.
    arrivals.arrive();
    const { workspaceId } = principal;
    const key = cohort === undefined ? undefined : keyOf(principal, cohort);
    const audienceEntry = pageTest && this.#audiences.enter(key, pageTest);
    const logAccess = () => logAccessOf(rights.contextOf(principal));
    const stream = new LiveStream({
      arrivals,
      first,
      errorChunk,
      onCut: (reason) => {
        counts.cut[reason] += 1;
      },
      onEnd: () => {
        if (watch.isClosed) counts.cut.stopping += 1;
        leave();
      },
      skip: async (cursor) =>
        audienceEntry?.audience.skip(cursor, arrivals, this.#log.pages(workspaceId, logAccess, arrivals)),
      onCursorPulse: (listener) => this.#cursors.add(listener),
      deliver: (cursor) => this.#deliver(cursor, { rights, arrivals, readAfter, cohort }),
    });
    if (audienceEntry) cleanups.push(audienceEntry.leave);
    cleanups.push(
      this.#beats.add(() => stream.beat()),
      this.watchToken(rights, arrivals),
    );
    return stream;
  }

  /** The chunk of a stream that follows a cursor. Equal streams read it together. */
  async #deliver(cursor: string, { rights, arrivals, readAfter, cohort }: ChunkSource): Promise<EventChunk> {
    const reader = await this.#readerOf(rights);
    const { arrival } = arrivals;
    const work = async () => {
      // A thousand chunks that are answered from memory would hold up everything else.
      await this.#slices.next();
      return readAfter(this.#contextOf(rights, reader, arrivals), cursor);
    };
    const changesBehind = arrivals.position - (parseCursor(cursor)?.position ?? 0);
    // Streams that are so far behind share no page with the others.
    const isFarBehind = changesBehind > maxSharedChanges;
    const read = () =>
      isFarBehind
        ? this.#catchUps.run(reader.workspaceId, changesBehind, () => this.#withLimits(work))
        : this.#withPermit(this.#chunks, work);
    // Changes far from the end of the log are the same, whatever has arrived since.
    const since = isFarBehind ? 'far' : arrival;
    const shared = await (cohort === undefined
      ? read()
      : this.#cohorts.read(keyOf(reader, `${since} ${cursor} ${cohort}`), read));
    const chunk = shared.isUnshareable ? await read() : shared;
    if (chunk.objects) rights.charge(chunk.objects);
    this.#count(chunk, arrivals);
    return chunk;
  }

  /** The principal of a stream that is about to read. Throws the error of its authentication. */
  async #readerOf(rights: StreamRights): Promise<Principal> {
    const cached = rights.cachedPrincipal();
    if (cached) return cached;
    return this.#withPermit(
      this.#checks,
      async () => rights.cachedPrincipal() ?? (await rights.authenticate()),
    );
  }

  /** Calls `fail` with the error of a regular check of the token. Returns a function that stops watching it. */
  watchToken(checks: TokenChecks, idle: Pick<Arrivals, 'fail'>): () => void {
    return this.#tokens.watch(checks.token, idle, () =>
      this.#withPermit(
        this.#checks,
        async () => (await checks.cachedPrincipalInBackground()) ?? checks.authenticate(),
      ),
    );
  }

  /** The context of one chunk, which shares its reads with the chunks of other streams. */
  #contextOf(rights: StreamRights, reader: Principal, arrivals: Arrivals): OperationContext {
    const context = rights.contextOf(reader);
    const { arrival } = arrivals;
    return {
      ...context,
      logPages: this.#log.pages(reader.workspaceId, () => logAccessOf(context), arrivals),
      answerOnce: (parts, answer) =>
        this.#answers.read(keyOf(reader, `${arrival} ${JSON.stringify(parts)}`), answer),
    };
  }

  /** Runs the work of a stream once it gets a permit. */
  #withPermit<Result>(permits: Semaphore, work: () => Promise<Result>): Promise<Result> {
    return permits.run(() => this.#withLimits(work));
  }

  /** The work of a stream may take as long as a request. */
  #withLimits<Result>(work: () => Promise<Result>): Promise<Result> {
    return withRequestLimits({ deadline: this.#admission.newDeadline() }, work);
  }

  #count({ count }: EventChunk, { notedMs }: Arrivals): void {
    const { counts } = this.#live;
    counts.delivered += count;
    if (count > 0 && notedMs > 0) counts.onLag?.('delivered', (performance.now() - notedMs) / 1_000);
  }

  /** `onLeave` is called exactly once, even if the client disconnects before its stream is read. */
  #enter(
    request: WaitingRequest,
    { tokenId, workspaceId }: Principal,
    onLeave: () => void = () => undefined,
  ): { arrivals: Arrivals; leave: () => void } {
    // Nothing is counted for a client that has disconnected already.
    request.check();
    const uncount = this.#live.openStreams.enter(tokenId);
    const arrivals = this.#live.watch.arrivals(workspaceId);
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      removeListener();
      arrivals.end();
      uncount();
      onLeave();
    };
    const removeListener = request.onDisconnect(leave);
    return { arrivals, leave };
  }
}

function logAccessOf(context: OperationContext): LogAccess {
  const { db, reference, connect } = requireSignedIn(context);
  return {
    db,
    reference,
    connect:
      connect ?? (() => raise('internal_error', 'The server has no connection for the work of streams.')),
  };
}

/** A key for reads with the same input whose principals may read the same: they have the same workspace, role and scopes. */
function keyOf(principal: Principal, input: string): string {
  let rightsKey = rightsKeys.get(principal);
  if (rightsKey === undefined) {
    const { workspaceId, role, scopes } = principal;
    rightsKey = [workspaceId, role, ...[...scopes].toSorted()].join(' ');
    rightsKeys.set(principal, rightsKey);
  }
  return `${rightsKey} ${input}`;
}

/** Requests of a token share its principal. */
const rightsKeys = new WeakMap<Principal, string>();
