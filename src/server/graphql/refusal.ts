import { headersOf } from '../../executor/answers/challenge.ts';
import { expectedError, formatError, maskedError } from '../../executor/answers/errors.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { type AppError, errorCodes } from '../../resolvers/errors.ts';
import { jsonReply } from '../http/reply.ts';
import type { ServerRequest } from '../http/request.ts';
import type { GraphQLMediaType } from './graphql-request.ts';

/** The answer to a request that has not become an operation, in the form of GraphQL errors. `allow` lists the methods of the path. */
export function refusal(
  error: unknown,
  request: ServerRequest,
  mediaType: GraphQLMediaType | undefined,
  allow: string,
): HttpReply {
  const cause = expectedError(error) ?? maskedError;
  const report = request.uncountedContext().report;
  const body = { errors: [formatError(error, request.requestId, report).toJSON()] };
  return jsonReply(errorCodes[cause.code].status, body, {
    'Content-Type': `${refusalType(mediaType)}; charset=utf-8`,
    Vary: 'Accept',
    ...headersOf(cause),
    ...allowHeader(cause, allow),
  });
}

function refusalType(mediaType: GraphQLMediaType | undefined): string {
  return mediaType === undefined || mediaType === 'text/event-stream' ? 'application/json' : mediaType;
}

/** The methods that a path allows, in the answer that refuses another one. */
export function allowHeader({ code }: AppError, allow: string): Record<string, string> {
  return code === 'method_not_allowed' ? { Allow: allow } : {};
}
