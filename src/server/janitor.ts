import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import { alone } from '../db/housekeeping.ts';
import type { FileStore } from '../storage/storage.ts';
import {
  abandonedUploads,
  type Chore,
  longDeletedIssues,
  oldKeys,
  oldReferenceChanges,
  staleStatistics,
  unwrittenSets,
} from '../resolvers/housekeeping.ts';

/** How often a server looks round, and how soon after its start. */
const everyMs = 10 * 60_000;
const firstMs = 60_000;

export interface Janitor {
  /** Lets the piece under way end, and begins no other. */
  stop(): Promise<void>;
}

interface JanitorOptions {
  readonly database: Database;
  readonly store: FileStore | undefined;
  readonly logger: Logger;
}

/** Clears away, now and then, what nobody can see any more, and puts things in order: in small pieces, and in one process at a time. */
export function startJanitor({ database, store, logger }: JanitorOptions): Janitor {
  const chores = [
    ...(store ? [abandonedUploads(database, store)] : []),
    longDeletedIssues(database, store),
    oldKeys(database),
    oldReferenceChanges(database),
    unwrittenSets(database),
    ...(database.engine === 'embedded' ? [staleStatistics(database)] : []),
  ];
  let isStopping = false;
  let round: Promise<unknown> = Promise.resolve();
  const begin = () => {
    round = alone(database, () => tidy(chores, logger, () => isStopping)).catch((error: unknown) =>
      logger.warn({ err: error }, 'the janitor could not work'),
    );
    timer = setTimeout(begin, everyMs).unref();
  };
  let timer = setTimeout(begin, firstMs).unref();
  return {
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      await round;
    },
  };
}

/** Does each chore until nothing is left of it; one that fails does not keep the next from its turn. */
export async function tidy(
  chores: readonly Chore[],
  logger: Pick<Logger, 'info' | 'warn'>,
  isStopping: () => boolean = () => false,
  now: Date = new Date(),
): Promise<void> {
  for (const { name, doSome } of chores) {
    let done = 0;
    try {
      for (let some = -1; some !== 0 && !isStopping(); done += some) some = await doSome(now);
    } catch (error) {
      logger.warn({ err: error }, `the janitor failed with ${name}`);
    }
    if (done > 0) logger.info({ done }, `the janitor is done with ${name}`);
  }
}
