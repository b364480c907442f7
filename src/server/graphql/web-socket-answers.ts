import { type ExecutionResult, GraphQLError, type GraphQLFormattedError, parse } from 'graphql';
import { expectedError, maskedError } from '../../executor/answers/errors.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { errorCodes } from '../../resolvers/errors.ts';
import { schema } from '../../schema/index.ts';

// Answers of HTTP as messages of a WebSocket.

/**
 * Reads the events of a stream, as `chunkOf` writes them. Calls `onBroken` if it ends without `complete`, and `onRefused` if it ends
 * because its token is refused.
 */
export async function* answersIn(
  events: AsyncIterable<string | Uint8Array>,
  { onBroken, onRefused }: { onBroken: () => void; onRefused: () => void },
): AsyncGenerator<ExecutionResult> {
  let text = '';
  let isRefused = false;
  const decoder = new TextDecoder();
  for await (const piece of events) {
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      if (lines.includes('event: complete')) {
        if (isRefused) onRefused();
        return;
      }
      const data = lines.find((line) => line.startsWith(dataField));
      if (data === undefined) continue;
      const result = JSON.parse(data.slice(dataField.length)) as ExecutionResult;
      isRefused = result.errors?.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED') ?? false;
      yield result;
    }
  }
  onBroken();
}

const dataField = 'data: ';

/** GraphQL answers with a text or with bytes. */
export function textOf(body: HttpReply['body']): string {
  return typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : '{}';
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
