import { documentNumber } from '../../executor/documents/number.ts';
import type { OperationContext } from '../../executor/run/execute.ts';
import { expectedError, formatError } from '../../executor/answers/errors.ts';
import { newestCursor, openSubscription, type SubscriptionRequest } from '../../executor/run/subscribe.ts';
import { chunkOf, type EventChunk, streamHeaders } from '../../rest-compat/event-chunks.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { raise } from '../../resolvers/errors.ts';
import type { ServerRequest } from '../http/request.ts';
import { acceptsEvents } from './graphql-request.ts';

// Subscriptions are streams of events in the "distinct connections mode" of graphql-sse: `next` with the answer for each event, and
// `complete` if the client must not reconnect. The ids of the events are cursors of the log of changes.

/** Answers a subscription with a stream. A refusal is thrown before the stream begins. */
export async function subscriptionReply(
  subscription: SubscriptionRequest,
  context: OperationContext,
  request: ServerRequest,
  operationName: string,
): Promise<HttpReply> {
  const { read, after, isShared, variables, pageTest } = openSubscription(subscription, context);
  if (!acceptsEvents(request.headers.accept))
    raise('not_acceptable', 'A subscription is answered as text/event-stream, which Accept has to allow.');
  const readAfter = async (readContext: OperationContext, cursor: string): Promise<EventChunk> => {
    const { events, hasErrors, ...rest } = await read(readContext, cursor);
    const answers = events.map((event) => ({ id: event.cursor, type: 'next', json: event.json }));
    return chunkOf(answers, { ...rest, isUnshareable: hasErrors });
  };
  const cohort = isShared ? cohortOf(subscription, variables) : undefined;
  const cursor = request.headers['last-event-id']?.toString() || after;
  const readFirst = async () => readAfter(context, cursor || (await newestCursor(context)));
  const first = await (cohort ? request.firstChunk(`${cursor ?? ''} ${cohort}`, readFirst) : readFirst());
  if (first.objects) context.charge?.(first.objects);
  const events = await request.stream({
    first,
    readAfter,
    pageTest: pageTest(),
    errorChunk: (error) => errorChunk(error, context),
    cohort,
    face: 'graphql',
  });
  const name = operationName && { 'X-GraphQL-Operation': operationName };
  return { status: 200, headers: { ...streamHeaders, ...name, Vary: 'Accept' }, events };
}

/**
 * The error that ends a stream, and `complete`, so that the client does not reconnect only to get the same error. If the service is
 * unavailable, the stream just ends, and the client reconnects.
 */
function errorChunk(error: unknown, { requestId, report }: OperationContext): EventChunk | undefined {
  const formatted = formatError(error, requestId, report);
  if (expectedError(error)?.code === 'unavailable') return undefined;
  const next = { type: 'next', json: JSON.stringify({ errors: [formatted] }) };
  return chunkOf([next, complete], { cursor: '', hasMore: false, isLast: true });
}

const complete = { type: 'complete', json: '' };

/** The answer to a query or a mutation as events, for a client that accepts nothing else. */
export function answerAsEvents(
  json: string,
  headers: Record<string, string>,
  onSent: (() => void) | undefined,
): HttpReply {
  const { pieces } = chunkOf([{ type: 'next', json }, complete], {
    cursor: '',
    hasMore: false,
    isLast: true,
  });
  return {
    status: 200,
    headers: { ...streamHeaders, ...headers },
    body: Buffer.concat(pieces),
    ...(onSent && { onSent }),
  };
}

/** The key of equal subscriptions. The rights of their tokens are compared in addition. */
function cohortOf({ document, operationName }: SubscriptionRequest, variables: object): string {
  return JSON.stringify([documentNumber(document), operationName, variables]);
}
