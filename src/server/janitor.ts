import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import { withJanitorLock } from '../db/housekeeping.ts';
import type { FileStore } from '../storage/storage.ts';
import {
  abandonedUploads,
  type Chore,
  longDeletedIssues,
  missedByEarlierVersions,
  oldChanges,
  oldKeys,
  oldReferenceChanges,
  oldWebhookDeliveries,
  issuesWithoutIdArrays,
  wrongTallies,
} from '../resolvers/housekeeping.ts';

/** The pause between two rounds of cleaning, and before the first one after the start. */
const roundIntervalMs = 10 * 60_000;
const firstRoundMs = 60_000;

export interface Janitor {
  /** Waits for the current step, and begins no other. */
  stop(): Promise<void>;
}

interface JanitorOptions {
  readonly database: Database;
  readonly store: FileStore | undefined;
  readonly logger: Logger;
  /** The number of days for which the log keeps changes. */
  readonly changesDays: number;
  /** Further chores, which depend on the settings of the server. */
  readonly additionalChores: readonly Chore[];
}

/** The chores of a janitor, in their order. */
export function choresOf({
  database,
  store,
  changesDays,
  additionalChores,
}: Omit<JanitorOptions, 'logger'>): readonly Chore[] {
  return [
    ...(store ? [abandonedUploads(database, store)] : []),
    longDeletedIssues(database, store),
    oldKeys(database),
    oldReferenceChanges(database),
    oldChanges(database, changesDays),
    oldWebhookDeliveries(database),
    ...additionalChores,
    issuesWithoutIdArrays(database),
    // Only one process at a time opens an embedded database, so that no earlier version writes to it.
    ...(database.engine === 'embedded' ? [] : [missedByEarlierVersions(database), wrongTallies(database)]),
  ];
}

/**
 * Periodically removes data that is no longer visible to anyone, and repairs stored values: in small steps, in one process at a
 * time.
 */
export function startJanitor({ logger, ...options }: JanitorOptions): Janitor {
  const { database } = options;
  const chores = choresOf(options);
  let isStopping = false;
  let round: Promise<unknown> = Promise.resolve();
  const begin = () => {
    round = withJanitorLock(database, () => tidy(chores, logger, () => isStopping))
      .catch((error: unknown) => logger.warn({ err: error }, 'the janitor could not run'))
      .finally(() => {
        if (!isStopping) timer = setTimeout(begin, roundIntervalMs).unref();
      });
  };
  let timer = setTimeout(begin, firstRoundMs).unref();
  return {
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      await round;
    },
  };
}

/** Repeats each chore until nothing is left. The next chore runs even if one fails. */
export async function tidy(
  chores: readonly Chore[],
  logger: Pick<Logger, 'info' | 'warn'>,
  isStopping: () => boolean = () => false,
  now: Date = new Date(),
): Promise<void> {
  for (const { name, doSome } of chores) {
    let done = 0;
    try {
      for (let handled = -1; handled !== 0 && !isStopping(); done += handled) handled = await doSome(now);
    } catch (error) {
      logger.warn({ err: error }, `the janitor failed to finish: ${name}`);
    }
    if (done > 0) logger.info({ done }, `the janitor is done with ${name}`);
  }
}
