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
