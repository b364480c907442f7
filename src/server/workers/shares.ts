import { availableParallelism } from 'node:os';
import type { Config } from '../config.ts';

/** With fewer, one slow request could hold up the others of a worker. */
const minPoolSize = 4;
const minConcurrency = 6;

/** How many worker processes there are: as many as the machine has cores for `auto`. Several workers need SO_REUSEPORT of Linux. */
export function numberOfWorkers({ workers }: Pick<Config, 'workers'>): number {
  if (workers !== 'auto') return workers;
  return process.platform === 'linux' ? availableParallelism() : 1;
}

/** The settings of one worker: its share of what the settings allow the whole service. */
export function shareOf(config: Config, workers: number): Config {
  const share = (amount: number, min = 1) => Math.max(Math.floor(amount / workers), min);
  const { pool, admission, streams } = config;
  return {
    ...config,
    pool: { ...pool, poolSize: share(pool.poolSize, Math.min(minPoolSize, pool.poolSize)) },
    admission: {
      ...admission,
      maxConcurrency: share(admission.maxConcurrency, Math.min(minConcurrency, admission.maxConcurrency)),
    },
    streams: { ...streams, streams: share(streams.streams) },
    referenceRows: share(config.referenceRows),
    unsentBytes: share(config.unsentBytes),
  };
}

/** A description of each worker's share, for the person who starts the service. */
export function describeShare(
  { pool, admission, streams, referenceRows, unsentBytes, readDatabaseUrls }: Config,
  workers: number,
): string {
  const { primary, replica } = connectionsOf({ pool, readDatabaseUrls }, workers);
  const toReplicas = readDatabaseUrls.length > 0 ? `, and ${replica} to each replica` : '';
  return (
    `${workers} workers, each with POOL_SIZE ${pool.poolSize}, MAX_CONCURRENCY ${admission.maxConcurrency}, ` +
    `STREAMS ${streams.streams}, REFERENCE_ROWS ${referenceRows}, UNSENT_LIMIT_BYTES ${unsentBytes}; ` +
    `in all up to ${primary} connections to PostgreSQL${toReplicas}`
  );
}

/**
 * The maximum number of connections of a service whose workers have these settings: a pool and one for probes of each worker, one
 * that listens, and one that holds the janitor's lock. With replicas, each worker asks the primary and the replicas for their
 * positions over one more each.
 */
export function connectionsOf(
  { pool, readDatabaseUrls }: Pick<Config, 'pool' | 'readDatabaseUrls'>,
  workers: number,
): { primary: number; replica: number } {
  const perWorker = pool.poolSize + 1;
  const forPositions = readDatabaseUrls.length > 0 ? 1 : 0;
  return { primary: workers * (perWorker + forPositions) + 2, replica: workers * (perWorker + 1) };
}
