import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../resolvers/errors.ts';
import { RateLimitedError } from '../executor/challenge.ts';
import type { Delivery } from '../rest-compat/events.ts';
import type { Arrivals } from './change-watch.ts';
import type { CutReason } from './live-counts.ts';

/** How soon a client comes back after its stream has ended. */
const retryMs = 2_000;
/** How long nothing is sent before the token of a stream is checked again, and after how many checks a comment shows that it works. */
const checkMs = 7_500;
const checksToHeartbeat = 2;
/** How long a stream lasts; some end sooner than others, so that they spread over the processes again. */
const lastsMs = () => 60 * 60_000 * (0.9 + Math.random() / 5);

interface StreamParts {
  readonly arrivals: Arrivals;
  /** What the client gets at once. */
  readonly first: Delivery;
  /** Reads what comes after a cursor. Throws if the token may not read it any more. */
  readonly deliver: (cursor: string) => Promise<Delivery>;
  /** Throws if the token may read nothing any more. */
  readonly check: () => Promise<unknown>;
  /** Called when the stream ends here, and not because its client has left or the process stops. */
  readonly onCut: (reason: CutReason) => void;
  /** What the client is told of an error that ends the stream; undefined if it learns of it when it comes back. */
  readonly farewell?: ((error: unknown) => Delivery | undefined) | undefined;
}

/**
 * The text of a stream of events (`text/event-stream`). It is asked for the next piece when the client has read the last one, so
 * of a slow client nothing is kept but its place. Unless there is a farewell, it just ends: the client then comes back and goes on
 * from the last `id`.
 */
export async function* eventStream({
  arrivals,
  first,
  deliver,
  check,
  farewell,
  onCut,
}: StreamParts): AsyncGenerator<string | Uint8Array> {
  const untilMs = performance.now() + lastsMs();
  let delivery = first;
  let told = '';
  yield `retry: ${retryMs}\n`;
  for (;;) {
    if (delivery.cursor !== told || delivery.isLast) yield* delivery.pieces;
    if (delivery.isLast) return;
    told = delivery.cursor;
    try {
      for (let checks = 1; !delivery.hasMore && !(await arrivals.next(checkMs)); checks += 1) {
        if (arrivals.isEnded) return;
        if (performance.now() > untilMs) return onCut('age');
        if (!(await patiently(check, arrivals))) return;
        if (checks % checksToHeartbeat === 0) yield ':\n\n';
      }
      const { cursor } = delivery;
      const next = await patiently(() => deliver(cursor), arrivals);
      if (!next) return;
      delivery = next;
    } catch (error) {
      onCut(reasonOf(error));
      const last = farewell?.(error);
      if (!last) return;
      delivery = last;
    }
  }
}

function reasonOf(error: unknown): CutReason {
  if (!(error instanceof AppError)) return 'failed';
  if (error.code === 'cursor_expired') return 'expired';
  return error.code === 'unauthenticated' || error.code === 'forbidden' ? 'refused' : 'failed';
}

/** Does the work, again and again while the token is in debt. Gives undefined when the stream was ended. */
async function patiently<Result>(
  work: () => Promise<Result>,
  arrivals: Arrivals,
): Promise<Result | undefined> {
  while (!arrivals.isEnded) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RateLimitedError)) throw error;
      await delay(Math.min(error.retryAfterSeconds * 1_000, checkMs));
    }
  }
  return undefined;
}
