import type { Database } from '../db/engine/engine.ts';
import { withMeter } from '../db/engine/meter.ts';
import { noVersion, ReferenceReads, type ReferenceVersion } from '../db/reads/reference-reads.ts';
import { defaultMaxRows } from './limits.ts';
import { Snapshot, snapshotOf } from './snapshot.ts';

/** How long after the start of a check its result may be used. A revoked token may work for at most a second. */
export const leaseMs = 800;
/** The interval at which the leases of workspaces in use are renewed in the background. */
const pollMs = 300;
/** How long after a request its workspace counts as in use. */
const inUseMs = 30_000;
/** How long a workspace that is too large is not read again. */
const tooLargeMs = 600_000;

/** The version that a client has seen in an answer. */
export type SeenVersion = Pick<ReferenceVersion, 'ref' | 'tag'>;

interface Check {
  /** Checks are numbered in the order in which they start. */
  readonly number: number;
  readonly beganMs: number;
  readonly done: Promise<Snapshot>;
}

interface Entry {
  snapshot: Snapshot;
  /** When the check started that last found the snapshot valid, and its number. */
  validFromMs: number;
  validFromNumber: number;
  /** The number of the last check that had started when the snapshot was stored here. */
  storedAfterNumber: number;
  usedMs: number;
  /** The check in progress that started last. */
  check: Check | undefined;
  /** The time until which the rows of this workspace are not read again, because there are too many. */
  tooLargeUntilMs: number;
}

/**
 * The reference data of the workspaces in use. Data that it returns was valid at most `leaseMs` ago, and after the last
 * write of this process. This follows from the lease and from the version, which a write increments under a lock.
 * Polling and notifications only make the data more recent.
 */
export class ReferenceMemory {
  readonly #reads: ReferenceReads;
  readonly #maxRows: number;
  /** Counts the checks that requests waited for, and the reads of changed data (`delta`) and of all data (`whole`). */
  readonly counts = { check: 0, delta: 0, whole: 0 };
  readonly #entries = new Map<string, Entry>();
  /** The workspace of the last entry, if that is still there. */
  #lastUsed: string | undefined;
  readonly #unsubscribe: () => void;
  #lastNumber = 0;
  /** Checks with this number or a higher one have seen the last write of this process. */
  #numberAfterWrite = 0;
  #poll: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #isPolling = false;

  constructor(database: Database, { maxRows }: { maxRows?: number | undefined } = {}) {
    this.#reads = new ReferenceReads(database);
    this.#maxRows = maxRows ?? defaultMaxRows;
    this.#unsubscribe = database.writeSignals.subscribe('reference', () => this.expireAll());
  }

  /**
   * The reference data of a workspace: immediately if the lease is valid, and after a check of the version otherwise. A
   * client that has seen a version gets no older one, unless a check does not find that version. This happens after a
   * failover that lost it, or when the client has invented it.
   */
  current(workspaceId: string, seen?: SeenVersion): Snapshot | Promise<Snapshot> {
    const entry = this.#entryOf(workspaceId);
    entry.usedMs = performance.now();
    this.#pollSoon();
    return this.#leased(workspaceId, entry, seen);
  }

  /**
   * As `current`, for work that no client waits for, such as the check of an idle stream: it does not keep the lease
   * alive.
   */
  currentInBackground(workspaceId: string): Snapshot | Promise<Snapshot> {
    return this.#leased(workspaceId, this.#entryOf(workspaceId));
  }

  #leased(workspaceId: string, entry: Entry, seen?: SeenVersion): Snapshot | Promise<Snapshot> {
    const nowMs = performance.now();
    if (seen && isBehind(entry.snapshot.version, seen))
      return this.#checked(workspaceId, entry, this.#nextNumber());
    if (nowMs - entry.validFromMs < leaseMs && entry.validFromNumber >= this.#numberAfterWrite)
      return entry.snapshot;
    return this.#checked(workspaceId, entry, this.#numberAfterWrite);
  }

  /**
   * The data of a check that started within the lease, even if something may have been written since. In that case a
   * new check starts in the background. Undefined when the last check is older than the lease.
   */
  recent(workspaceId: string): Snapshot | undefined {
    const current = this.current(workspaceId);
    if (!(current instanceof Promise)) return current;
    // Callers that wait for the check get its error.
    current.catch(() => undefined);
    const { snapshot, validFromMs } = this.#entryOf(workspaceId);
    return performance.now() - validFromMs < leaseMs ? snapshot : undefined;
  }

  /** The data after a check that starts now, for an answer that needs rows that are missing here. */
  renewed(workspaceId: string): Promise<Snapshot> {
    return this.#checked(workspaceId, this.#entryOf(workspaceId), this.#nextNumber());
  }

  /** Calls for a new check of all workspaces: after a write, or when notifications may have been missed. */
  expireAll(): void {
    this.#numberAfterWrite = this.#nextNumber();
  }

  /** How much is cached. */
  size(): { workspaces: number; rows: number } {
    let rows = 0;
    for (const { snapshot } of this.#entries.values()) rows += snapshot.rowCount;
    return { workspaces: this.#entries.size, rows };
  }

  /** Ends the polling, and waits for reads in progress. */
  async close(): Promise<void> {
    clearInterval(this.#poll);
    this.#unsubscribe();
    await this.#polling;
    await Promise.allSettled([...this.#entries.values()].flatMap(({ check }) => (check ? [check.done] : [])));
  }

  #nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  #entryOf(workspaceId: string): Entry {
    const known = this.#entries.get(workspaceId);
    // Each request calls this several times, mostly for the same workspace.
    if (known && this.#lastUsed === workspaceId) return known;
    this.#lastUsed = workspaceId;
    const entry = known ?? {
      snapshot: new Snapshot(noVersion),
      validFromMs: Number.NEGATIVE_INFINITY,
      validFromNumber: -1,
      storedAfterNumber: 0,
      usedMs: 0,
      check: undefined,
      tooLargeUntilMs: 0,
    };
    // Entries of the map are in the order of their last use.
    if (known) this.#entries.delete(workspaceId);
    this.#entries.set(workspaceId, entry);
    return entry;
  }

  /** Starts a check, or waits for one in progress that started within the lease and has at least the needed number. */
  #checked(workspaceId: string, entry: Entry, neededNumber: number): Promise<Snapshot> {
    const beganMs = performance.now();
    const { check } = entry;
    if (check && check.number >= neededNumber && beganMs - check.beganMs < leaseMs) return check.done;
    this.counts.check += 1;
    const number = this.#nextNumber();
    const done = withMeter(async () => {
      const [version = noVersion] = (await this.#reads.versions([workspaceId])).values();
      return this.#applyVersion(workspaceId, entry, { number, beganMs, version });
    }).finally(() => {
      if (entry.check?.number === number) entry.check = undefined;
    });
    entry.check = { number, beganMs, done };
    return done;
  }

  /** Brings the entry to the version that a check found. Reads the changes if it is another version. */
  async #applyVersion(
    workspaceId: string,
    entry: Entry,
    { number, beganMs, version }: { number: number; beganMs: number; version: ReferenceVersion },
  ): Promise<Snapshot> {
    const { snapshot: base } = entry;
    const known = base.version;
    let snapshot = base;
    if (!base.isCached || isDifferent(known, version))
      snapshot = await this.#read(workspaceId, entry, version);
    else if (known.auth !== version.auth) snapshot = base.withVersion(version);
    const isLater = snapshot.version.ref > entry.snapshot.version.ref;
    // Checks may end in another order than they started. An older version is stored only if its check started after the
    // current one was stored: then the database has another history, as after a failover.
    if (
      isLater ||
      (number > entry.validFromNumber &&
        (number > entry.storedAfterNumber || !isBehind(snapshot.version, entry.snapshot.version)))
    ) {
      entry.snapshot = snapshot;
      entry.storedAfterNumber = this.#lastNumber;
      if (snapshot !== base) this.#evict();
    }
    if (number > entry.validFromNumber)
      Object.assign(entry, { validFromNumber: number, validFromMs: beganMs });
    return snapshot;
  }

  async #read(workspaceId: string, entry: Entry, version: ReferenceVersion): Promise<Snapshot> {
    const { snapshot: base } = entry;
    const nowMs = performance.now();
    if (nowMs < entry.tooLargeUntilMs) return new Snapshot(version);
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
    entry.tooLargeUntilMs = nowMs + tooLargeMs;
    return new Snapshot(whole.version);
  }

  /** Evicts the least recently used workspaces while there are too many rows. */
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

  /**
   * Checks all workspaces in use with one statement. If it fails, the leases end, and requests get the error of their
   * check.
   */
  async #renewLeases(): Promise<void> {
    const nowMs = performance.now();
    const used = [...this.#entries].filter(([, entry]) => nowMs - entry.usedMs < inUseMs);
    if (used.length === 0) {
      clearInterval(this.#poll);
      this.#poll = undefined;
      return;
    }
    const number = this.#nextNumber();
    try {
      const versions = await withMeter(() => this.#reads.versions(used.map(([workspaceId]) => workspaceId)));
      for (const [workspaceId, entry] of used) {
        const version = versions.get(workspaceId) ?? noVersion;
        // Changed data is read when a request needs it.
        const { snapshot } = entry;
        const { auth } = snapshot.version;
        if (isDifferent(snapshot.version, version) || auth !== version.auth) continue;
        if (entry.validFromNumber >= 0 && number > entry.validFromNumber)
          Object.assign(entry, { validFromNumber: number, validFromMs: nowMs });
      }
    } catch {
      // The next request that needs a check gets the error.
    }
  }
}

/** Whether the client has seen a later version, or the same version of another history. */
function isBehind(known: ReferenceVersion, seen: SeenVersion): boolean {
  return known.ref < seen.ref || (known.ref === seen.ref && known.tag !== seen.tag);
}

function isDifferent(known: ReferenceVersion, version: SeenVersion): boolean {
  return known.ref !== version.ref || known.tag !== version.tag;
}
