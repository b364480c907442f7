import { GraphQLError, type GraphQLSchema } from 'graphql';
import { executeOperation, type OperationContext } from '../executor/run/execute.ts';
import { limits } from '../model/limits.ts';
import { type EventChunk, streamHeaders } from './event-chunks.ts';
import type { HttpReply } from './http-reply.ts';
import type { RestRequest } from './rest-handler.ts';
import { NewestCursorDocument, type NewestCursorQuery } from './operations.generated.ts';
import { type Failure, operationProblem, problemReply, refusalOf } from './problem.ts';
import type { CheckedRequest, Route } from './route.ts';

/** The first read of a stream was refused. All streams that share the read answer with the refusal. */
class RefusedRead extends Error {
  override readonly name = 'RefusedRead';
  readonly refusal: Failure;

  constructor(refusal: Failure) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

type ReadyRequest = Extract<CheckedRequest, { verdict: 'ready' }>;

/**
 * Answers with a stream of events: those after the cursor of the request, or only new ones if it has no cursor. An
 * invalid request is refused before the stream begins.
 */
export async function streamReply(
  schema: GraphQLSchema,
  route: Route,
  checked: ReadyRequest,
  request: RestRequest,
): Promise<HttpReply> {
  const { requestId } = request;
  const context = await request.context();
  const operationName = route.operation.name.value;
  const read = (readContext: OperationContext, after: string) =>
    executeOperation({
      schema,
      document: route.document,
      operationName,
      variables: { ...checked.variables, ...chunkVariables, after },
      context: readContext,
    });
  const { after: requestedCursor } = checked.variables;
  const cohort = JSON.stringify([operationName, { ...checked.variables, ...chunkVariables, after: null }]);
  const readFirst = async (): Promise<EventChunk> => {
    let objects = 0;
    const readContext: OperationContext = { ...context, charge: (count) => (objects += count) };
    const after =
      typeof requestedCursor === 'string' && requestedCursor !== ''
        ? requestedCursor
        : await newestCursor(schema, readContext);
    const { data, errors: [error] = [] } = await read(readContext, after);
    if (error) throw error;
    const outcome = checked.answer(data);
    if (outcome.verdict === 'refused') throw new RefusedRead(refusalOf(outcome.code, outcome.violations));
    return { ...chunkIn(checked, data), objects };
  };
  let first: EventChunk;
  try {
    first = await request.firstChunk(JSON.stringify([requestedCursor, cohort]), readFirst);
  } catch (error) {
    if (error instanceof RefusedRead) return problemReply(error.refusal, requestId);
    if (error instanceof GraphQLError) return operationProblem(route, error, requestId, context.report);
    throw error;
  }
  if (first.objects) context.charge?.(first.objects);
  const headers = { ...streamHeaders, 'X-GraphQL-Operation': operationName };
  if (request.method === 'HEAD') return { status: 200, headers };
  const readAfter = async (readContext: OperationContext, cursor: string) => {
    let objects = 0;
    // Each stream that shares the chunk is charged for it.
    const result = await read({ ...readContext, charge: (count) => (objects += count) }, cursor);
    if (result.errors) throw new Error('The stream failed. Its client gets the reason when it reconnects.');
    return { ...chunkIn(checked, result.data), objects };
  };
  const events = await request.stream({ first, readAfter, cohort, face: 'rest' });
  return { status: 200, headers, events };
}

/** A stream has no pages: with more changes in each chunk, fewer chunks keep up with many writes. */
const chunkVariables = { first: limits.changesPerRead, waitSeconds: 0 };

async function newestCursor(schema: GraphQLSchema, context: OperationContext): Promise<string> {
  const { data, errors: [error] = [] } = await executeOperation({
    schema,
    document: NewestCursorDocument,
    context,
  });
  if (error) throw error;
  return (data as unknown as NewestCursorQuery).workspace.changeCursor;
}

function chunkIn({ answer }: ReadyRequest, data: unknown): EventChunk {
  const outcome = answer(data);
  const chunk = outcome.verdict === 'rendered' ? outcome.rendered.chunk : undefined;
  if (!chunk) throw new Error('The reply of a route with a stream has no chunk.');
  return chunk;
}
