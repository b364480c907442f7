import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Beat } from './heartbeat.ts';
import type { RecentWrites } from './recent-writes.ts';
import { cutWhenSilent } from './redis-silence.ts';

const channel = 'workgraph:wrote';
const retryMs = 1_000;

/**
 * Publishes through Redis which tokens write here, and receives which ones write at other machines. Returns a function that
 * stops both.
 */
export function shareWrites(url: string, writes: RecentWrites, logger: Logger, beat?: Beat): () => void {
  const options = { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => retryMs };
  const publisher = new Redis(url, options);
  const subscriber = new Redis(url, { ...options, autoResubscribe: false });
  const connections = [publisher, subscriber];
  let isInterrupted = false;
  const interrupted = (error: unknown) => {
    if (!isInterrupted)
      logger.warn({ err: error }, 'Redis does not answer, so writes at other machines are not known here');
    isInterrupted = true;
  };
  const connected = () => {
    if (!connections.every(({ status }) => status === 'ready')) return;
    if (isInterrupted) logger.info('Redis answers again: writes at other machines are known here');
    isInterrupted = false;
  };
  for (const redis of connections) {
    redis.on('error', interrupted);
    // Needed even if this process writes nothing, because nothing else would show that messages no longer arrive.
    cutWhenSilent(redis, interrupted, beat);
  }
  publisher.on('ready', connected);
  subscriber.on('ready', () => void subscriber.subscribe(channel).then(connected, interrupted));
  subscriber.on('message', (_channel: string, tokenId: string) => writes.noteElsewhere(tokenId));
  writes.onNote((tokenId) => void publisher.publish(channel, tokenId).catch(interrupted));
  return () => {
    for (const redis of connections) redis.disconnect();
  };
}
