import { closeCodes } from './web-socket-close-codes.ts';

/** An operation that the library has begun and not ended. */
interface BegunOperation {
  /** Whether the client has completed it. */
  isCompleted: boolean;
  /** The message with which the client begins another operation with the same id. */
  next: object | undefined;
}

/**
 * Returns a function for the messages of a connection that calls `take` with them. A client may use the id of an operation again
 * as soon as it has completed it. The library tells operations apart by their ids only, so a message with such an id waits until
 * the library has ended the completed one: otherwise that one would answer, and end, the new one.
 */
export function separatingIds(
  take: (message: unknown) => Promise<void>,
  { isOpen, close }: { isOpen: () => boolean; close: (code: number, reason: string) => void },
): (message: { type?: unknown; id?: unknown } | undefined) => void {
  const begun = new Map<unknown, BegunOperation>();
  const begin = (id: unknown, message: object) => {
    const operation: BegunOperation = { isCompleted: false, next: undefined };
    begun.set(id, operation);
    void take(message).then(() => {
      begun.delete(id);
      if (operation.next !== undefined && isOpen()) begin(id, operation.next);
    });
  };
  return (message) => {
    const { type, id } = message ?? {};
    const earlier = begun.get(id);
    if (message && type === 'subscribe' && !earlier) return begin(id, message);
    if (message && type === 'subscribe' && earlier?.isCompleted) {
      if (earlier.next !== undefined)
        return close(closeCodes.subscriberAlreadyExists, 'Subscriber already exists');
      earlier.next = message;
      return;
    }
    if (type === 'complete' && earlier) {
      earlier.isCompleted = true;
      earlier.next = undefined;
    }
    void take(message);
  };
}
