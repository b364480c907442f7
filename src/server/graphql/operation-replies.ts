import { headersOf } from '../../executor/answers/challenge.ts';
import { expectedError, maskedError } from '../../executor/answers/errors.ts';
import { type OperationResult, replayedHeaders } from '../../executor/answers/idempotent.ts';
import type { Revalidation } from '../../executor/answers/revalidation.ts';
import type { OperationContext } from '../../executor/run/execute.ts';
import { type ErrorCode, errorCodes } from '../../resolvers/errors.ts';
import { entityTag } from '../../rest-compat/entity-tags.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { jsonReply } from '../http/reply.ts';
import type { ServerRequest } from '../http/request.ts';
import type { GraphQLMediaType, GraphQLRequest } from './graphql-request.ts';
import { allowHeader } from './refusal.ts';
import { answerAsEvents } from './subscriptions.ts';

/** One operation that came over HTTP. Yoga passes it from the request to the plugin below. */
export interface OperationRun {
  readonly parameters: GraphQLRequest;
  readonly operation: OperationContext;
  /** Not called `request`, because the context of Yoga has one already. */
  readonly incoming: ServerRequest;
  readonly mediaType: GraphQLMediaType;
  /** Set for a GET of a client that has an earlier answer. */
  readonly revalidation: Revalidation | undefined;
  /** Set if the operation is a subscription, whose refusal has its HTTP status with every media type. */
  isSubscription?: boolean;
  /** Receives the stream that answers a subscription. It is an object, because Yoga runs operations with a copy of the context. */
  readonly opened: {
    stream?: HttpReply;
    /** Whether the answer gets a tag for conditional requests: it is that of a GET, without errors. */
    isTagged?: boolean;
  };
}

/** Errors whose status does not depend on the media type. Other errors are 200 with the older `application/json`. */
const alwaysWithStatus: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'method_not_allowed',
  'internal_error',
  'unavailable',
]);

/** The status and headers of a result. */
export function httpOf(result: OperationResult, { mediaType, incoming, isSubscription }: OperationRun) {
  const [error] = result.errors ?? [];
  if (!error || 'data' in result) {
    const operationName = incoming.operationName;
    const headers = {
      ...replayedHeaders(result.replayed),
      ...(operationName && { 'X-GraphQL-Operation': operationName }),
    };
    return { status: 200, headers };
  }
  const cause = expectedError(error) ?? maskedError;
  const isLenient = mediaType === 'application/json' && !isSubscription;
  if (isLenient && !alwaysWithStatus.has(cause.code)) return { status: 200, headers: {} };
  return {
    status: errorCodes[cause.code].status,
    headers: { ...headersOf(cause), ...allowHeader(cause, 'POST') },
  };
}

/** The reply that Yoga would send, with the same body, status and headers, without calling Yoga. */
export function directReply(result: OperationResult, context: OperationRun): HttpReply {
  if (context.opened.stream) return context.opened.stream;
  const { status, headers } = httpOf(result, context);
  const { json, data, errors, extensions } = result;
  if (context.mediaType === 'text/event-stream') {
    // A refusal is not sent as an event: a client that asked for a stream gets it as an HTTP status.
    if (errors && !('data' in result)) return jsonReply(status, { errors }, { ...headers, Vary: 'Accept' });
    const bytes = json
      ? withExtensions(json.bytes, extensions)
      : JSON.stringify({ errors, data, extensions });
    return answerAsEvents(String(bytes), { ...headers, Vary: 'Accept' }, json?.release);
  }
  return {
    status,
    headers: { 'Content-Type': `${context.mediaType}; charset=utf-8`, ...headers, Vary: 'Accept' },
    ...(json
      ? { body: withExtensions(json.bytes, extensions), isConstant: json.isConstant, onSent: json.release }
      : { body: JSON.stringify({ errors, data, extensions }) }),
  };
}

/** The reply to a GET. Only the client itself may cache it, and must revalidate it each time. */
export function taggedReply(reply: HttpReply, revalidation: Revalidation | undefined): HttpReply {
  const { body } = reply;
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return reply;
  const tag = { ETag: entityTag(body, undefined), 'Cache-Control': 'private, no-cache' };
  const headers = { ...reply.headers, ...tag };
  revalidation?.remember({ headers, bytes: Buffer.byteLength(body) });
  return { ...reply, headers };
}

/** Adds extensions to an answer that is written already and ends with a brace. */
function withExtensions(json: Buffer, extensions: object | undefined): Buffer {
  if (!extensions) return json;
  return Buffer.concat([json.subarray(0, -1), Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`)]);
}
