import type { WebSocket } from 'ws';
import { isNestedDeeper } from '../../executor/inputs/nesting.ts';
import { closeCodes } from './web-socket-close-codes.ts';
import { separatingIds } from './web-socket-ids.ts';

/** The maximum number of messages of a connection in a second. Quotas count only its operations. */
const maxMessages = 1_000;
/** The maximum size of other messages than `subscribe`: the library parses them once more, and repeats the payload of a ping. */
const maxOtherBytes = 16_384;
/**
 * The deepest nesting of a message, whose parts are written by recursion. Operations have the lower limit of a POST, and exceeding
 * that one does not close the connection.
 */
const maxMessageNesting = 1_000;

/**
 * Calls `take` with the messages of a connection, and `onTaken` after each. Closes the connection if there are too many, or one
 * is nested too deeply.
 */
export function receiveMessages(
  ws: WebSocket,
  take: (text: string) => Promise<void>,
  onTaken: () => void,
): void {
  const isOpen = () => ws.readyState === ws.OPEN;
  const close = (code: number, reason: string) => ws.close(code, reason);
  const received = separatingIds(take, { isOpen, close });
  let beganMs = performance.now();
  let messages = 0;
  ws.on('message', (data: Buffer) => {
    // More messages may have arrived together with the one because of which the connection is closed.
    if (!isOpen()) return;
    const nowMs = performance.now();
    if (nowMs - beganMs >= 1_000) {
      beganMs = nowMs;
      messages = 0;
    }
    messages += 1;
    if (messages > maxMessages) return close(closeCodes.tooManyMessages, 'Too many messages');
    const text = String(data);
    const message = parsed(text);
    if (data.length > maxOtherBytes && !isSubscribe(message))
      return close(closeCodes.badRequest, 'Only the message subscribe may be so long');
    if (isNestedDeeper(message, maxMessageNesting))
      return close(closeCodes.badRequest, 'Message nested too deeply');
    received(text, message ?? {});
    onTaken();
  });
}

function isSubscribe(message: { readonly type?: unknown } | null | undefined): boolean {
  return message?.type === 'subscribe';
}

/** The value of a message; undefined for a text that is not JSON, which the library refuses. */
function parsed(text: string): object | null | undefined {
  try {
    return JSON.parse(text) as object | null;
  } catch {
    return undefined;
  }
}
