import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  changesPerRun,
  newTag,
  notifyOfChanges,
  numberChanges,
  type SequencerResult,
  selectUnnumbered,
  vacuumInbox,
} from '../db/changes.ts';
import type { Database } from '../db/engine/engine.ts';
import { DatabaseUnavailableError } from '../db/engine/unavailable.ts';

/** How long after a commit its changes get their positions, together with those of other commits in this time. */
const gatherMs = 5;
/**
 * A run is followed by a rest of several times its duration, within limits. So changes that come fast are numbered together, and a
 * busy database is left to the writes.
 */
const rest = { factor: 4, minMs: 20, maxMs: 80 };
/** The interval at which every process looks for changes that were left without a number because a process died. */
const pollMs = 1_000;
/** How many failed workspaces are tried again at once. Each may take a connection for as long as a lock may be waited for. */
const maxRetries = 3;
/** How many changes a process numbers before it frees their space. */
const vacuumAfter = 2_000;

interface SequencerOptions {
  readonly database: Database;
  /** Called when a run has given positions up to this one in a workspace. */
  readonly onNumbered: (workspaceId: string, position: number, run: SequencerResult) => void;
  /** Called with the number of changes of all workspaces that waited, each time that the process has looked for them. */
  readonly onSearched?: (rows: number) => void;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Numbers the changes that writes have logged, after their commits, and notifies all processes. Any number of processes may do so
 * at the same time: a lock of the workspace lets one of them work.
 */
export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #unsubscribe: () => void;
  readonly #work: Promise<void>;
  readonly #poll: NodeJS.Timeout;
  /** Resolves when something has to be numbered or looked for. */
  #wakeUp = Promise.withResolvers<void>();
  /** The workspaces of the writes since the last run, and whether others must be looked for. */
  #due = { workspaceIds: new Set<string>(), search: false };
  /** How many changes have been numbered since the last vacuum. */
  #numberedSinceVacuum = 0;
  #isClosing = false;
  /** Whether the last run failed as a whole, which has been logged then. */
  #hasFailed = false;
  /** The workspaces in which the last run failed, and whether that has been logged; those that failed last come last. */
  readonly #failing = new Map<string, boolean>();
  /** The runs that try failed workspaces again. */
  readonly #retries = new Map<string, Promise<void>>();

  constructor(options: SequencerOptions) {
    this.#options = options;
    this.#unsubscribe = options.database.writeSignals.subscribe('change', (workspaceId) =>
      this.wake(workspaceId),
    );
    // The loop is one asynchronous function, so that its statements are not counted as those of the request that woke it.
    this.#work = this.#loop();
    // Commands and processes that died may have left changes.
    this.wake();
    // Runs regardless of how often writes of this process wake the loop: processes that died may have written in other
    // workspaces.
    this.#poll = setInterval(() => this.wake(), pollMs).unref();
  }

  /** Asks for a run that begins after this moment: in this workspace, or in all that have changes. */
  wake(workspaceId?: string): void {
    if (workspaceId === undefined) this.#due.search = true;
    else this.#due.workspaceIds.add(workspaceId);
    this.#wakeUp.resolve();
  }

  /** Ends after a last run. */
  async close(): Promise<void> {
    this.#unsubscribe();
    clearInterval(this.#poll);
    this.#isClosing = true;
    this.wake();
    await this.#work;
    await Promise.all(this.#retries.values());
  }

  async #loop(): Promise<void> {
    let rested = Promise.resolve();
    while (!this.#isClosing) {
      await this.#wakeUp.promise;
      await Promise.all([delay(gatherMs), rested]);
      const beganMs = performance.now();
      await this.#run();
      const tookMs = performance.now() - beganMs;
      rested = delay(Math.max(rest.minMs, Math.min(tookMs * rest.factor, rest.maxMs)));
    }
  }

  async #run(): Promise<void> {
    const { database, logger, onSearched } = this.#options;
    // The run that begins now may miss changes that are committed from here on, so they cause another run.
    const { workspaceIds, search } = this.#due;
    this.#due = { workspaceIds: new Set(), search: false };
    this.#wakeUp = Promise.withResolvers();
    try {
      const found = search ? await selectUnnumbered(database.unscoped) : [];
      if (search) onSearched?.(found.reduce((sum, { count }) => sum + count, 0));
      const withChanges = [...new Set([...workspaceIds, ...found.map(({ workspaceId }) => workspaceId)])];
      this.#retry(new Set(withChanges));
      await this.#numberEach(withChanges.filter((id) => !this.#failing.has(id)));
      await this.#vacuum();
      this.#hasFailed = false;
    } catch (error) {
      // The poll tries again, and one line in the log is enough.
      if (!this.#hasFailed) logger.warn({ err: error }, 'changes could not be numbered');
      this.#hasFailed = true;
    }
  }

  /**
   * Retries those workspaces in which the last run failed: each on its own, because one may wait a long time for a lock, and some
   * at once, beginning with those whose last try was longest ago.
   */
  #retry(workspaceIds: ReadonlySet<string>): void {
    const { logger } = this.#options;
    for (const workspaceId of this.#failing.keys()) {
      if (this.#retries.size >= maxRetries) return;
      if (!workspaceIds.has(workspaceId) || this.#retries.has(workspaceId)) continue;
      const retry = this.#numberEach([workspaceId])
        .catch((error: unknown) => {
          // If the database does not answer, the regular run reports it.
          if (!(error instanceof DatabaseUnavailableError))
            logger.warn({ err: error, workspaceId }, 'processes could not be notified of changes');
        })
        .finally(() => this.#retries.delete(workspaceId));
      this.#retries.set(workspaceId, retry);
    }
  }

  /** Numbers the changes of one workspace after the other, and notifies all processes. Throws if the database does not answer. */
  async #numberEach(workspaceIds: readonly string[]): Promise<void> {
    const { database, logger } = this.#options;
    const heads = new Map<string, number>();
    let outage: DatabaseUnavailableError | undefined;
    for (const workspaceId of workspaceIds) {
      try {
        const position = await this.#number(workspaceId);
        if (position !== null) heads.set(workspaceId, position);
        this.#failing.delete(workspaceId);
      } catch (error) {
        const isLogged = this.#failing.get(workspaceId) ?? false;
        // It is added again at the end, because the workspaces that failed last are the last to be tried again.
        this.#failing.delete(workspaceId);
        if (error instanceof DatabaseUnavailableError) {
          this.#failing.set(workspaceId, isLogged);
          outage = error;
          break;
        }
        this.#failing.set(workspaceId, true);
        if (!isLogged)
          logger.warn({ err: error, workspaceId }, 'changes of a workspace could not be numbered');
      }
    }
    // The embedded engine has only one process, so there is no other to notify.
    if (heads.size > 0 && database.engine === 'postgres')
      await notifyOfChanges(() => database.connect(), heads);
    if (outage) throw outage;
  }

  async #vacuum(): Promise<void> {
    if (this.#numberedSinceVacuum < vacuumAfter) return;
    this.#numberedSinceVacuum = 0;
    const { database, logger } = this.#options;
    // The changes have their positions already, and the next vacuum does what this one has not done.
    await vacuumInbox(database.unscoped).catch((error: unknown) =>
      logger.warn({ err: error }, 'the inbox of changes could not be vacuumed'),
    );
  }

  /** Returns the newest position if it has numbered changes, otherwise null. */
  async #number(workspaceId: string): Promise<number | null> {
    const { database, onNumbered } = this.#options;
    const target = { db: database.of(workspaceId), connect: () => database.connect() };
    const run = await numberChanges(target, newTag());
    const { hasLock, count, position } = run;
    this.#numberedSinceVacuum += count;
    // If another process holds the workspace, its run may have begun before these changes; and a full run may have left some.
    if (!hasLock || count === changesPerRun) this.wake(workspaceId);
    if (position !== null) onNumbered(workspaceId, position, run);
    return position;
  }
}
