import type { Redis } from 'ioredis';
import { type Beat, Heartbeat } from './heartbeat.ts';

const defaultBeat: Beat = { everyMs: 1_000, unanswered: 3 };

/**
 * Opens another connection when Redis is silent on this one: the other end may be gone without notice, for example behind a
 * firewall that has forgotten the connection, and a subscriber would wait forever. `onSilence` is called before.
 */
export function cutWhenSilent(redis: Redis, onSilence: (error: Error) => void, beat = defaultBeat): void {
  let heartbeat: Heartbeat | undefined;
  // From here on Redis is to answer, at first what ioredis asks before a connection is ready.
  redis.on('connect', () => {
    const newHeartbeat = new Heartbeat({
      ...beat,
      ask: () => {
        const answered = () => newHeartbeat.answered();
        if (redis.status === 'ready') redis.ping().then(answered, answered);
      },
      onSilence: () => {
        onSilence(new Error(`Redis has been silent for ${beat.unanswered * beat.everyMs} ms.`));
        redis.disconnect(true);
      },
    });
    heartbeat = newHeartbeat;
  });
  redis.on('ready', () => heartbeat?.answered());
  redis.on('close', () => heartbeat?.stop());
}
