import { CloseCode } from 'graphql-ws';

/** Why the server closes a WebSocket. Codes above 4000 are those of the protocol graphql-transport-ws, the others of WebSocket itself. */
export const closeCodes = {
  goingAway: 1001,
  tryAgainLater: 1013,
  badRequest: CloseCode.BadRequest,
  unauthorized: CloseCode.Unauthorized,
  forbidden: CloseCode.Forbidden,
  subscriberAlreadyExists: CloseCode.SubscriberAlreadyExists,
  // The protocol has this code for a second `connection_init`.
  tooManyMessages: CloseCode.TooManyInitialisationRequests,
  internalServerError: CloseCode.InternalServerError,
} as const;

/** The maximum length of a reason in a close frame, in bytes. */
const maxReasonBytes = 123;

/** A reason that fits in a close frame. The library repeats ids of clients in some. */
export function closeReason(text: string): string {
  let reason = text.slice(0, maxReasonBytes);
  while (Buffer.byteLength(reason) > maxReasonBytes) reason = reason.slice(0, -1);
  return reason;
}
