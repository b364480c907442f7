import type { Deadline } from '../../db/engine/deadline.ts';
import { AppError } from '../../resolvers/errors.ts';

/**
 * Answers a request at its deadline, whatever it waits for. Its work ends with the next statement, which checks the
 * deadline.
 */
export function inTime<Reply>(reply: Promise<Reply>, deadline: Deadline | undefined): Promise<Reply> {
  if (!deadline) return reply;
  return new Promise((resolve, reject) => {
    let late: NodeJS.Timeout | undefined;
    const watch = () => {
      const { leftMs } = deadline;
      if (leftMs <= 0) reject(new TooLate('unavailable', 'The request has taken too long; try again soon.'));
      // The deadline may have been renewed, because the time in which a client sends its body does not count.
      else late = setTimeout(watch, Math.min(Math.ceil(leftMs), longestWatchMs));
    };
    watch();
    reply.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

const longestWatchMs = 60_000;

export class TooLate extends AppError {}
