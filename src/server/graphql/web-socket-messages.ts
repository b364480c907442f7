import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { isNestedDeeper } from '../../executor/inputs/nesting.ts';
import { maxJsonValues } from '../../executor/limits.ts';
import { hasMoreValues } from '../../model/json.ts';
import { AppError } from '../../resolvers/errors.ts';
import { closeCodes } from './web-socket-close-codes.ts';
import { separatingIds } from './web-socket-ids.ts';

/** The maximum number of messages of a connection in a second. Quotas count only its operations. */
const maxMessages = 1_000;
/** Messages up to this size do not wait for a turn, as long as they have no more than `bytesASecond` together. */
const smallBytes = 16_384;
/** Parsing so many bytes takes some milliseconds. Clients have up to twenty connections for each token. */
const bytesASecond = 65_536;
/** The maximum size of other messages than `subscribe`: the library repeats the payload of a ping. */
const maxOtherBytes = 4_096;
/**
 * The deepest nesting of a message, whose parts are written by recursion. Operations have the lower limit of a POST, and exceeding
 * that one does not close the connection.
 */
const maxMessageNesting = 1_000;

interface Reception {
  /** Passes a valid message to the library. Resolves when the operation that the message begins has ended. */
  readonly take: (message: unknown) => Promise<void>;
  /** Called after each message that was passed to the library. */
  readonly onTaken: () => void;
  /** How long the next message has to wait, in milliseconds, because operations were refused since the last call. */
  readonly takeRefusalDelayMs: () => number;
  /**
   * Waits for a turn in the queue of large bodies, and then calls `parse`. Rejects if the queue is full, or if the connection is
   * closed while it waits.
   */
  readonly inTurn: (bytes: number, parse: () => void) => Promise<void>;
  /** Stops reading the connection. Returns a function that resumes it. */
  readonly pause: () => () => void;
}

/**
 * Receives the messages of a connection, in order. A large one waits for its turn, like the body of a POST. Closes the connection
 * if there are too many messages, or one is too long, nested too deeply or has too many values.
 */
export function receiveMessages(
  ws: WebSocket,
  { take, onTaken, takeRefusalDelayMs, inTurn, pause }: Reception,
): void {
  const isOpen = () => ws.readyState === ws.OPEN;
  const close = (code: number, reason: string) => ws.close(code, reason);
  const received = separatingIds(take, { isOpen, close });
  /** Messages that have been read and wait for one before them. */
  const waiting: Buffer[] = [];
  /** How many pieces of work have to end before the next message is accepted. */
  let holds = 0;
  let beganMs = performance.now();
  let messages = 0;
  let bytes = 0;

  const receive = (data: Buffer) => {
    // More messages may have arrived together with the one because of which the connection is closed.
    if (!isOpen()) return;
    const text = String(data);
    if (hasMoreValues(text, maxJsonValues))
      return close(closeCodes.badRequest, 'Message with too many values');
    const message = parsed(text);
    if (data.length > maxOtherBytes && !isSubscribe(message))
      return close(closeCodes.badRequest, 'Only the message subscribe may be so long');
    if (isNestedDeeper(message, maxMessageNesting))
      return close(closeCodes.badRequest, 'Message nested too deeply');
    received(message);
    onTaken();
    const delayMs = takeRefusalDelayMs();
    if (delayMs > 0) void hold(delay(delayMs));
  };

  /** Accepts no other message until the work is done. */
  const hold = async (work: Promise<void>) => {
    holds += 1;
    const resume = pause();
    try {
      await work;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      close(closeCodes.tryAgainLater, 'Try again later');
    } finally {
      holds -= 1;
      resume();
      acceptWaiting();
    }
  };

  const accept = (data: Buffer) => {
    if (!isOpen()) return;
    bytes += data.length;
    if (data.length <= smallBytes && bytes <= bytesASecond) return receive(data);
    void hold(inTurn(data.length, () => receive(data)));
  };

  const acceptWaiting = () => {
    const next = holds > 0 ? undefined : waiting.shift();
    if (!next) return;
    accept(next);
    acceptWaiting();
  };

  ws.on('message', (data: Buffer) => {
    if (!isOpen()) return;
    const nowMs = performance.now();
    if (nowMs - beganMs >= 1_000) {
      beganMs = nowMs;
      messages = 0;
      bytes = 0;
    }
    messages += 1;
    if (messages > maxMessages) return close(closeCodes.tooManyMessages, 'Too many messages');
    if (holds > 0) waiting.push(data);
    else accept(data);
  });
}

function isSubscribe(message: { readonly type?: unknown } | undefined): boolean {
  return message?.type === 'subscribe';
}

/** A message; undefined for a text that is not a JSON object, which the library refuses. */
function parsed(text: string): object | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
