import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { RecentWrites } from './recent-writes.ts';

const channel = 'workgraph:wrote';
const retryMs = 1_000;

/** Publishes by Redis which tokens write here, and receives which ones write at other machines. Returns a function that stops this. */
export function shareWrites(url: string, writes: RecentWrites, logger: Logger): () => void {
  const options = { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => retryMs };
  const publisher = new Redis(url, options);
  const subscriber = new Redis(url, { ...options, autoResubscribe: false });
  let isInterrupted = false;
  const interrupted = (error: unknown) => {
    if (!isInterrupted)
      logger.warn({ err: error }, 'Redis does not answer, so writes at other machines are not known here');
    isInterrupted = true;
  };
  for (const redis of [publisher, subscriber]) redis.on('error', interrupted);
  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(() => {
      isInterrupted = false;
    }, interrupted);
  });
  subscriber.on('message', (_channel: string, tokenId: string) => writes.noteElsewhere(tokenId));
  const publish = (tokenId: string) => void publisher.publish(channel, tokenId).catch(interrupted);
  const before = writes.onNote;
  writes.onNote = (tokenId) => {
    before(tokenId);
    publish(tokenId);
  };
  return () => {
    publisher.disconnect();
    subscriber.disconnect();
  };
}
