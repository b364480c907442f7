import { GraphQLError, type GraphQLFormattedError, parse } from 'graphql';
import { expectedError, maskedError } from '../../executor/answers/errors.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { errorCodes } from '../../resolvers/errors.ts';
import { schema } from '../../schema/index.ts';

// Answers of HTTP as messages of a WebSocket.

/** GraphQL answers with a text or with bytes. The bytes are copied, because their buffer is used again once the answer is sent. */
export function jsonOf(body: HttpReply['body']): string | Buffer {
  return typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body) : '{}';
}

/** The errors of an answer that is known to have some. */
export function errorsIn(json: string): readonly GraphQLFormattedError[] {
  return (JSON.parse(json) as { errors: GraphQLFormattedError[] }).errors;
}

/** The arguments with which the library executes an operation whose result, or stream of results, exists already. */
export function executionOf(contextValue: object) {
  return { schema, document: anySubscription, contextValue };
}

/** A document for which the library calls `subscribe`, which returns the existing result. */
const anySubscription = parse('subscription { changes { id } }');

export function graphQLError({
  message,
  path,
  locations: _locations,
  extensions,
}: GraphQLFormattedError): GraphQLError {
  return new GraphQLError(message, { path, ...(extensions && { extensions }) });
}

/** The status that HTTP would answer. */
export function statusOf(error: unknown): number {
  return errorCodes[(expectedError(error) ?? maskedError).code].status;
}

export function errorOf(error: unknown, requestId: string): GraphQLError {
  const { code, message } = expectedError(error) ?? maskedError;
  return new GraphQLError(message, { extensions: { code: code.toUpperCase(), requestId } });
}
