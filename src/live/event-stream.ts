import { setTimeout as delay } from 'node:timers/promises';
import { RateLimitedError } from '../executor/challenge.ts';
import type { Delivery, StreamedEvent } from '../rest-compat/events.ts';
import type { Arrivals } from './change-watch.ts';

/** How soon a client comes back after its stream has ended. */
const retryMs = 2_000;
/** How long nothing is sent before a comment shows that the stream works, and before its token is checked again. */
const heartbeatMs = 10_000;
/** The shortest time between two deliveries; changes that come faster are delivered together. */
const gatherMs = 100;
/** How long a stream lasts; some end sooner than others, so that they spread over the processes again. */
const lastsMs = () => 60 * 60_000 * (0.9 + Math.random() / 5);
/** A delivery is written in pieces of about this size. */
const pieceCharacters = 65_536;

interface StreamParts {
  readonly arrivals: Arrivals;
  /** What the client gets at once. */
  readonly first: Delivery;
  /** Reads what comes after a cursor. Throws if the token may not read it any more. */
  readonly deliver: (cursor: string) => Promise<Delivery>;
  /** Throws if the token may read nothing any more. */
  readonly check: () => Promise<unknown>;
}

/**
 * The text of a stream of events (`text/event-stream`). It is asked for the next piece when the client has read the last one, so
 * of a slow client nothing is kept but its place. It ends without a farewell: the client then comes back and goes on from the
 * last `id`.
 */
export async function* eventStream({ arrivals, first, deliver, check }: StreamParts): AsyncGenerator<string> {
  const untilMs = performance.now() + lastsMs();
  let delivery = first;
  let told = '';
  yield `retry: ${retryMs}\n`;
  for (;;) {
    if (delivery.cursor !== told) yield* piecesOf(delivery);
    told = delivery.cursor;
    const deliveredMs = performance.now();
    if (!delivery.hasMore) {
      while (!(await arrivals.next(heartbeatMs))) {
        if (arrivals.isEnded || performance.now() > untilMs) return;
        if (!(await patiently(check, arrivals))) return;
        yield ':\n\n';
      }
      await delay(Math.max(gatherMs - (performance.now() - deliveredMs), 0));
    }
    const { cursor } = delivery;
    const next = await patiently(() => deliver(cursor), arrivals);
    if (!next) return;
    delivery = next;
  }
}

/** Does the work, again and again while the token is in debt. Gives undefined when the stream has to end. */
async function patiently<Result>(
  work: () => Promise<Result>,
  arrivals: Arrivals,
): Promise<Result | undefined> {
  while (!arrivals.isEnded) {
    try {
      return await work();
    } catch (error) {
      // The client learns the reason when it comes back.
      if (!(error instanceof RateLimitedError)) return undefined;
      await delay(Math.min(error.retryAfterSeconds * 1_000, heartbeatMs));
    }
  }
  return undefined;
}

/** The events as text, and the cursor after them. An event without data is not told, but its id is kept by the client. */
function* piecesOf({ events, cursor }: Delivery): Generator<string> {
  let piece = '';
  for (const event of events) {
    piece += textOf(event);
    if (piece.length < pieceCharacters) continue;
    yield piece;
    piece = '';
  }
  yield events.at(-1)?.id === cursor ? piece : `${piece}id: ${cursor}\n\n`;
}

/** JSON has no line breaks, so its text is one line. */
function textOf({ id, type, data }: StreamedEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
