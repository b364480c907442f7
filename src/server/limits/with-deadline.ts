import type { Deadline } from '../../db/engine/deadline.ts';
import { AppError } from '../../resolvers/errors.ts';

/**
 * Rejects at the deadline of a request, whatever the request is waiting for. Its work goes on until the next statement, which
 * checks the deadline.
 */
export function withDeadline<Reply>(reply: Promise<Reply>, deadline: Deadline | undefined): Promise<Reply> {
  if (!deadline) return reply;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const watch = () => {
      const { leftMs } = deadline;
      if (leftMs <= 0)
        reject(new DeadlineExceededError('unavailable', 'The request has taken too long; try again soon.'));
      // The deadline may have been renewed, because the time in which a client sends its body does not count.
      else timer = setTimeout(watch, Math.min(Math.ceil(leftMs), maxTimerMs));
    };
    watch();
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The maximum time until the deadline is read again. It is infinite while a client sends its body, and no timer can be. */
const maxTimerMs = 60_000;

/** A request was not answered before its deadline. */
export class DeadlineExceededError extends AppError {}
