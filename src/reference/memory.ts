import type { Database } from '../db/engine/engine.ts';
import { metered } from '../db/engine/meter.ts';
import { noVersion, ReferenceReads, type ReferenceVersion } from '../db/reads/reference-reads.ts';
import { defaultMaxRows } from './limits.ts';
import { Snapshot, snapshotOf } from './snapshot.ts';

/** For how long after the start of a check its result is served; a second is what a revoked token may live on. */
export const leaseMs = 800;
/** How often the leases of workspaces in use are renewed beside the requests. */
const pollMs = 300;
/** A workspace is in use for so long after a request. */
const inUseMs = 30_000;
/** How long a workspace that was found too large is not read again. */
const tooLargeMs = 600_000;

/** The version that a client has seen in an answer. */
export type SeenVersion = Pick<ReferenceVersion, 'ref' | 'tag'>;

interface Check {
  /** When it began, in the order of all beginnings. */
  readonly turn: number;
  readonly beganMs: number;
  readonly done: Promise<Snapshot>;
}

interface Entry {
  snapshot: Snapshot;
  /** The beginning of the check that found it valid: as a time, and in the order of all beginnings. */
  validFromMs: number;
  turn: number;
  /** The last beginning before the snapshot was put here. */
  installed: number;
  usedMs: number;
  /** Checks that began before this turn may not have seen a write of this process, or a notification. */
  neededTurn: number;
  /** A check or refill under way: the one that began last. */
  check: Check | undefined;
  /** Until when nobody tries to keep its rows. */
  tooLargeUntilMs: number;
}

/**
 * Reference data of the workspaces in use. What it gives was valid at most `leaseMs` before the question, and never
 * before the end of this process's own last write: correctness rests on the lease and on the version that a write
 * counts under a lock; polling and notifications only keep the lag shorter than that.
 */
export class ReferenceMemory {
  readonly #reads: ReferenceReads;
  readonly #maxRows: number;
  /** Checks that requests waited for, and refills: of what changed, and of everything. */
  readonly counts = { check: 0, delta: 0, whole: 0 };
  readonly #entries = new Map<string, Entry>();
  readonly #unsubscribe: () => void;
  #turn = 0;
  #writtenTurn = 0;
  #poll: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #isPolling = false;

  constructor(database: Database, { maxRows }: { maxRows?: number | undefined } = {}) {
    this.#reads = new ReferenceReads(database);
    this.#maxRows = maxRows ?? defaultMaxRows;
    this.#unsubscribe = database.referenceWrites.subscribe(() => this.expireAll());
  }

  /**
   * The reference data of a workspace, at once where the lease holds; else after a check of its version. A client
   * that has seen a version never gets an older one, unless one check does not find it: after a failover that lost
   * it, or when it is made up.
   */
  current(workspaceId: string, seen?: SeenVersion): Snapshot | Promise<Snapshot> {
    const entry = this.#entryOf(workspaceId);
    const now = performance.now();
    entry.usedMs = now;
    this.#pollSoon();
    if (seen && isBehind(entry.snapshot.version, seen))
      return this.#checked(workspaceId, entry, this.#nextTurn());
    if (now - entry.validFromMs < leaseMs && entry.turn >= this.#needed(entry)) return entry.snapshot;
    return this.#checked(workspaceId, entry, this.#needed(entry));
  }

  /**
   * What is known now, from a check that began within the lease, though something may have been written since then: that
   * is looked for beside, and found by the next who asks. Undefined when nothing was looked at for so long.
   */
  recent(workspaceId: string): Snapshot | undefined {
    const current = this.current(workspaceId);
    if (!(current instanceof Promise)) return current;
    // Who waits for it hears why it failed.
    current.catch(() => undefined);
    const { snapshot, validFromMs } = this.#entryOf(workspaceId);
    return performance.now() - validFromMs < leaseMs ? snapshot : undefined;
  }

  /** After a check that begins now: for an answer that found something missing here. */
  renewed(workspaceId: string): Promise<Snapshot> {
    return this.#checked(workspaceId, this.#entryOf(workspaceId), this.#nextTurn());
  }

  /** Something was written to the workspace's reference data: what is known of it is not served before it is checked. */
  expire(workspaceId: string): void {
    const entry = this.#entries.get(workspaceId);
    if (entry) entry.neededTurn = this.#nextTurn();
  }

  /** The same for all workspaces: after a write of this process, or when notifications may have been lost. */
  expireAll(): void {
    this.#writtenTurn = this.#nextTurn();
  }

  /** How much is cached. */
  size(): { workspaces: number; rows: number } {
    let rows = 0;
    for (const { snapshot } of this.#entries.values()) rows += snapshot.rowCount;
    return { workspaces: this.#entries.size, rows };
  }

  /** Ends the polling, and waits for what is being read. */
  async close(): Promise<void> {
    clearInterval(this.#poll);
    this.#unsubscribe();
    await this.#polling;
    await Promise.allSettled([...this.#entries.values()].flatMap(({ check }) => (check ? [check.done] : [])));
  }

  #needed({ neededTurn }: Entry): number {
    return Math.max(neededTurn, this.#writtenTurn);
  }

  #nextTurn(): number {
    this.#turn += 1;
    return this.#turn;
  }

  #entryOf(workspaceId: string): Entry {
    const known = this.#entries.get(workspaceId);
    const entry = known ?? {
      snapshot: new Snapshot(noVersion),
      validFromMs: Number.NEGATIVE_INFINITY,
      turn: -1,
      installed: 0,
      usedMs: 0,
      neededTurn: 0,
      check: undefined,
      tooLargeUntilMs: 0,
    };
    // The last in a Map is the one that was used last.
    if (known) this.#entries.delete(workspaceId);
    this.#entries.set(workspaceId, entry);
    return entry;
  }

  /** Joins only a check that began after the cause of this one, and within the lease. */
  #checked(workspaceId: string, entry: Entry, neededTurn: number): Promise<Snapshot> {
    const began = performance.now();
    const { check } = entry;
    if (check && check.turn >= neededTurn && began - check.beganMs < leaseMs) return check.done;
    this.counts.check += 1;
    const turn = this.#nextTurn();
    const done = metered(async () => {
      const [version = noVersion] = (await this.#reads.versions([workspaceId])).values();
      return this.#install(workspaceId, entry, { turn, began, version });
    }).finally(() => {
      if (entry.check?.turn === turn) entry.check = undefined;
    });
    entry.check = { turn, beganMs: began, done };
    return done;
  }

  /** Brings the entry to a version that a check found, reading what changed where it is another one. */
  async #install(
    workspaceId: string,
    entry: Entry,
    { turn, began, version }: { turn: number; began: number; version: ReferenceVersion },
  ): Promise<Snapshot> {
    const { snapshot: base } = entry;
    const known = base.version;
    let snapshot = base;
    if (!base.isCached || isOther(known, version)) snapshot = await this.#read(workspaceId, entry, version);
    else if (known.auth !== version.auth) snapshot = base.withVersion(version);
    const isLater = snapshot.version.ref > entry.snapshot.version.ref;
    // A check that began first may have looked last. What is older than what is known counts only when all of the
    // check came after that: then it is another history, and no race.
    if (
      isLater ||
      (turn > entry.turn && (turn > entry.installed || !isBehind(snapshot.version, entry.snapshot.version)))
    ) {
      entry.snapshot = snapshot;
      entry.installed = this.#turn;
      if (snapshot !== base) this.#evict();
    }
    if (turn > entry.turn) Object.assign(entry, { turn, validFromMs: began });
    return snapshot;
  }

  async #read(workspaceId: string, entry: Entry, version: ReferenceVersion): Promise<Snapshot> {
    const { snapshot: base } = entry;
    const now = performance.now();
    if (now < entry.tooLargeUntilMs) return new Snapshot(version);
    if (base.isCached) {
      const changes = await this.#reads.changes(workspaceId, base.version);
      if (changes) {
        this.counts.delta += 1;
        return base.changed(changes.version, changes.tables);
      }
    }
    this.counts.whole += 1;
    const whole = await this.#reads.whole(workspaceId, this.#maxRows);
    const snapshot = snapshotOf(whole.version, whole.tables);
    if (snapshot.rowCount <= this.#maxRows) return snapshot;
    entry.tooLargeUntilMs = now + tooLargeMs;
    return new Snapshot(whole.version);
  }

  /** Forgets those used least recently when there are too many rows. */
  #evict(): void {
    let { rows } = this.size();
    for (const [workspaceId, { snapshot, check }] of this.#entries) {
      if (rows <= this.#maxRows) return;
      if (check) continue;
      rows -= snapshot.rowCount;
      this.#entries.delete(workspaceId);
    }
  }

  #pollSoon(): void {
    if (this.#poll) return;
    this.#poll = setInterval(() => {
      if (this.#isPolling) return;
      this.#isPolling = true;
      this.#polling = this.#renewLeases().finally(() => {
        this.#isPolling = false;
      });
    }, pollMs);
    this.#poll.unref();
  }

  /** One statement for all workspaces in use. A failure leaves the leases to end, and the requests to see it. */
  async #renewLeases(): Promise<void> {
    const now = performance.now();
    const used = [...this.#entries].filter(([, entry]) => now - entry.usedMs < inUseMs);
    if (used.length === 0) {
      clearInterval(this.#poll);
      this.#poll = undefined;
      return;
    }
    const turn = this.#nextTurn();
    try {
      const versions = await metered(() => this.#reads.versions(used.map(([workspaceId]) => workspaceId)));
      for (const [workspaceId, entry] of used) {
        const version = versions.get(workspaceId) ?? noVersion;
        // Only what is the same: a change is read when somebody asks.
        const { snapshot } = entry;
        const { auth } = snapshot.version;
        if (isOther(snapshot.version, version) || auth !== version.auth) continue;
        if (entry.turn >= 0 && turn > entry.turn) Object.assign(entry, { turn, validFromMs: now });
      }
    } catch {
      // The next request that needs a check says what is wrong.
    }
  }
}

/** Has somebody seen what is not known here yet: a later version, or another history of the same. */
function isBehind(known: ReferenceVersion, seen: SeenVersion): boolean {
  return known.ref < seen.ref || (known.ref === seen.ref && known.tag !== seen.tag);
}

function isOther(known: ReferenceVersion, version: SeenVersion): boolean {
  return known.ref !== version.ref || known.tag !== version.tag;
}
