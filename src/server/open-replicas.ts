import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import { RecentWrites } from './recent-writes.ts';
import type { WorkerLink } from './workers/worker-link.ts';

interface ReplicaOptions {
  readonly database: Database;
  readonly config: { readonly redisUrl?: string | undefined };
  readonly logger: Logger;
  readonly link?: WorkerLink | undefined;
}

/** What a server with replicas knows about the writes of tokens, in this process and in others; undefined without replicas. */
export async function openReplicas({ database, config, logger, link }: ReplicaOptions) {
  const { replicas } = database;
  if (!replicas) return undefined;
  const recentWrites = new RecentWrites();
  if (link) {
    recentWrites.onNote((tokenId) => link.noteWrite(tokenId));
    link.reports.on('wrote', ({ tokenId }) => recentWrites.noteElsewhere(tokenId));
  }
  const { redisUrl } = config;
  const stopSharing =
    redisUrl === undefined
      ? undefined
      : (await import('./shared-writes.ts')).shareWrites(redisUrl, recentWrites, logger);
  replicas.onChange((replica, problem, error) => {
    if (problem === undefined) logger.info({ replica }, 'a replica serves queries');
    else
      logger.warn(
        { replica, ...(error !== undefined && { err: error }) },
        `a replica serves no queries, because ${problem}: the primary answers them`,
      );
  });
  return { recentWrites, close: () => stopSharing?.() };
}
