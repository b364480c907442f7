import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { changesPerRun, notifyOfChanges, numberChanges, selectUnnumbered } from '../db/changes.ts';
import type { Database } from '../db/engine/engine.ts';

/** How long after a commit its changes get their positions, together with those of other commits in this time. */
const gatherMs = 5;
/** The interval at which every process looks for changes that nobody has numbered, because a process died. */
const pollMs = 1_000;
/** The tag of a run, below 2^48. */
const newTag = () => randomInt(1, 2 ** 48 - 1);

interface SequencerOptions {
  readonly database: Database;
  /** Called when a workspace has changes up to this position. */
  readonly onNumbered: (workspaceId: string, position: number) => void;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Numbers the changes that writes have logged, after their commits, and tells all processes. Any number of processes may do so
 * at the same time: a lock of the workspace lets one of them work.
 */
export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #unsubscribe: () => void;
  readonly #work: Promise<void>;
  #cause = Promise.withResolvers<void>();
  #isClosing = false;
  #hasFailed = false;

  constructor(options: SequencerOptions) {
    this.#options = options;
    this.#unsubscribe = options.database.writeSignals.subscribe('change', () => this.wake());
    // The loop is one asynchronous function, so that its statements are not counted as those of the request that woke it.
    this.#work = this.#loop();
    // Commands and processes that died may have left changes.
    this.wake();
  }

  /** Asks for a run that begins after this moment. */
  wake(): void {
    this.#cause.resolve();
  }

  /** Ends after a last run, if there is a cause for one. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#isClosing = true;
    this.wake();
    await this.#work;
  }

  async #loop(): Promise<void> {
    while (!this.#isClosing) {
      const poll = setTimeout(() => this.wake(), pollMs).unref();
      await this.#cause.promise;
      clearTimeout(poll);
      await delay(gatherMs);
      // What commits from here on may be missed by the run that begins now, so it is the cause of another one.
      this.#cause = Promise.withResolvers();
      await this.#run();
    }
  }

  async #run(): Promise<void> {
    const { database, logger } = this.#options;
    try {
      for (const workspaceId of await selectUnnumbered(database.unscoped)) await this.#number(workspaceId);
      this.#hasFailed = false;
    } catch (error) {
      // The poll tries again, and one line in the log is enough.
      if (!this.#hasFailed) logger.warn({ err: error }, 'changes could not be numbered');
      this.#hasFailed = true;
    }
  }

  async #number(workspaceId: string): Promise<void> {
    const { database, onNumbered } = this.#options;
    const to = { db: database.of(workspaceId), connect: () => database.connect() };
    const { held, count, position } = await numberChanges(to, newTag());
    // The run that holds the workspace may be older than the cause of this one, and a full run may have left some.
    if (!held || count === changesPerRun) this.wake();
    if (position === null) return;
    onNumbered(workspaceId, position);
    // The embedded engine has one process.
    if (database.engine === 'postgres') await notifyOfChanges(database.unscoped, workspaceId, position);
  }
}
