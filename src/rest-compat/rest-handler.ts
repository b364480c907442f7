import type { IncomingHttpHeaders } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { executeOperation, type OperationContext } from '../executor/run/execute.ts';
import { type EarlierAnswer, EarlierAnswers } from '../executor/answers/revalidation.ts';
import { replayedHeaders } from '../executor/answers/idempotent.ts';
import { readPageThatFits } from '../executor/answers/page-that-fits.ts';
import { checkScopes, InsufficientScopeError } from '../executor/selections/scope-rule.ts';
import { EventLoopTurns } from '../executor/run/event-loop-turns.ts';
import { bodyTypeMessage } from './body.ts';
import { isCompressed } from './content-encoding.ts';
import { csvOf } from './csv.ts';
import type { EventChunk, EventStream, StreamSource } from './event-chunks.ts';
import { streamReply } from './stream-reply.ts';
import { entityTag } from './entity-tags.ts';
import { type HttpReply, unchangedReply } from './http-reply.ts';
import { isJsonMediaType, readJson } from './json.ts';
import { operationProblem, problemReply, refusalOf } from './problem.ts';
import { printOpenApi } from './openapi.ts';
import { pageLinks } from './page-links.ts';
import type { Outcome, Route } from './route.ts';
import { createRouter, type RouteMatch } from './router.ts';
import { routeTable } from './route-table.ts';

/** A request from the server. Only its size has been checked so far. */
export interface RestRequest {
  readonly method: string;
  /** The path as it was sent: percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  /** Whether the client prefers CSV to JSON, by its `Accept`. */
  readonly prefersCsv: boolean;
  /** Whether the client prefers a stream of events to JSON, by its `Accept`. */
  readonly prefersEvents: boolean;
  /** The URL at which the client reaches the service: `https://work.example.com`. */
  readonly origin: string;
  /** Reads the whole body. Throws `payload_too_large`. */
  body(): Promise<Buffer>;
  /**
   * Waits for a document turn before work that takes as long as preparing a new document of this many bytes. Throws
   * `unavailable`.
   */
  documentTurn(bytes: number): Promise<void>;
  /** Waits for a place of the caller's workspace, which lets it read data. Throws `unavailable`. */
  takeWorkspacePlace(): Promise<void>;
  /**
   * Authenticates the caller and returns the context. Throws `unauthenticated` for an invalid token, and
   * `rate_limited`.
   */
  context(): Promise<OperationContext>;
  /** Whether the client has this answer to the request, by its If-None-Match. */
  hasAnswer(answer: EarlierAnswer): boolean;
  /** The context of a public operation, without a principal. Counts against the address. Throws `rate_limited`. */
  publicContext(): Promise<OperationContext>;
  /** A context without a principal for what counts against no quota, such as a probe. */
  uncountedContext(): OperationContext;
  /** Reads the first events of a stream. Streams that open at the same time with an equal `key` share one read. */
  firstChunk(key: string, read: () => Promise<EventChunk>): Promise<EventChunk>;
  /**
   * Opens a stream, which sends the first chunk and then what `readAfter` reads after its cursor, with a context whose
   * token has been checked again. Throws `too_many_streams`.
   */
  stream(source: StreamSource<OperationContext>): Promise<EventStream>;
  /** Reports the operation and the route's path to logs and metrics. */
  noteOperation(operationName: string, route: string): void;
}

/** Answers the requests to the REST layer. */
export interface RestHandler {
  /**
   * Returns undefined when no route has the path; the server then answers 404. Errors that it throws are answered as
   * problems.
   */
  handle(request: RestRequest): Promise<HttpReply | undefined>;
  /** The route of a request that counts against its token; undefined for public routes and unknown paths. */
  countedRoute(request: Pick<RestRequest, 'method' | 'path'>): Pick<Route, 'operation' | 'path'> | undefined;
}

/** Creates the handler of the REST layer, which runs an operation of the schema for each route of the table. */
export function createRestHandler(schema: GraphQLSchema): RestHandler {
  const find = createRouter(routeTable);
  const earlierAnswers = new EarlierAnswers();
  // For HEAD, the server sends all headers and no body.
  const routeOf = ({ methods }: RouteMatch, method: string) =>
    methods.get(method === 'HEAD' ? 'GET' : method);
  return {
    countedRoute({ method, path }) {
      const found = find(path);
      const route = found && routeOf(found, method);
      return route?.scope === 'public' ? undefined : route;
    },
    async handle(request) {
      if (request.path === '/v1/openapi.json') return descriptionReply(request);
      const found = find(request.path);
      if (!found) return undefined;
      const { allow, pathParameters } = found;
      if (request.method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
      const route = routeOf(found, request.method);
      return route
        ? answer({ schema, earlierAnswers }, route, pathParameters, request)
        : methodNotAllowed(request, allow);
    },
  };
}

/** The replies with the description, by the origins that it names. Without `PUBLIC_URL`, a client may name any host. */
const descriptions = new LRUCache<string, HttpReply>({ max: 8 });

/** Printing and hashing the description take as long as preparing a new document of this many bytes. */
const descriptionEffort = 65_536;

/** Replies with the OpenAPI description. No operation produces this reply, so no route has it. */
async function descriptionReply(request: RestRequest): Promise<HttpReply> {
  const allow = 'GET, HEAD, OPTIONS';
  if (request.method === 'OPTIONS') return { status: 204, headers: { Allow: allow } };
  if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(request, allow);
  let reply = descriptions.get(request.origin);
  if (!reply) {
    await request.documentTurn(descriptionEffort);
    const body = Buffer.from(printOpenApi(request.origin));
    const headers = { 'Content-Type': 'application/json; charset=utf-8', ...readHeaders(request, body) };
    reply = { status: 200, headers, body, isConstant: true };
    descriptions.set(request.origin, reply);
  }
  return reply;
}

function methodNotAllowed({ requestId }: RestRequest, allow: string): HttpReply {
  const message = `This path supports ${allow}.`;
  return problemReply({ code: 'method_not_allowed', message }, requestId, { Allow: allow });
}

/** Runs the operation of a route. The checks before it are in the order of docs/contract.md, "Errors". */
async function answer(
  { schema, earlierAnswers }: { schema: GraphQLSchema; earlierAnswers: EarlierAnswers },
  route: Route,
  path: Readonly<Record<string, string>>,
  request: RestRequest,
): Promise<HttpReply> {
  const { requestId } = request;
  request.noteOperation(route.operation.name.value, route.path);
  const context = await contextOf(route, request);
  requireRouteScope(schema, route, context);
  const sent = route.body ? await readJsonBody(request) : { body: undefined };
  if ('reply' in sent) return sent.reply;
  const { query, headers } = request;
  const checked = route.check({ path, query, headers, body: sent.body });
  if (checked.verdict === 'refused')
    return problemReply(refusalOf(checked.code, checked.violations), requestId);
  if (checked.verdict === 'notFound') return notFoundReply(route, requestId);
  if (context.principal) await request.takeWorkspacePlace();
  if (route.canStream && request.prefersEvents) return streamReply(schema, route, checked, request);
  const operationName = route.operation.name.value;
  const revalidation = earlierAnswers.revalidation(request, context);
  const execute = (variables: Record<string, unknown>) =>
    executeOperation({
      schema,
      document: route.document,
      operationName,
      variables,
      context,
      idempotencyKey: checked.idempotencyKey,
      rowRenderer: route.rowRenderer,
      revalidation,
    });
  const { variables } = checked;
  const { sizeVariable } = route;
  // A page whose answer would be too large is read again with fewer rows.
  const result = sizeVariable
    ? await readPageThatFits(Number(variables[sizeVariable]), (rows) =>
        execute({ ...variables, [sizeVariable]: rows }),
      )
    : await execute(variables);
  if (revalidation?.unchanged) return unchangedReply(revalidation.unchanged);
  const [error] = result.errors ?? [];
  const reply = error
    ? operationProblem(route, error, requestId, context.report)
    : await outcomeReply(route, () => checked.answer(result.data), request);
  const replayed = replayedHeaders(result.replayed);
  const { status, body } = reply;
  const replyHeaders = { ...reply.headers, ...replayed, 'X-GraphQL-Operation': operationName };
  if (status === 200 && body instanceof Uint8Array)
    revalidation?.remember({ headers: replyHeaders, bytes: body.length });
  return { ...reply, headers: replyHeaders };
}

/** The reply with the result of an operation. Other requests may run in between, because a page of long issues takes long to render. */
async function outcomeReply(route: Route, render: () => Outcome, request: RestRequest): Promise<HttpReply> {
  const { requestId } = request;
  const turns = new EventLoopTurns();
  const outcome = render();
  const turnAfterRendering = turns.next();
  if (turnAfterRendering) await turnAfterRendering;
  if (outcome.verdict === 'notFound') return notFoundReply(route, requestId);
  if (outcome.verdict === 'refused')
    return problemReply(refusalOf(outcome.code, outcome.violations), requestId);
  const { status, body, release, table, location, nextCursor, isTotalExact, revision } = outcome.rendered;
  const csv = table && (table.format ?? (request.prefersCsv ? 'csv' : 'json')) === 'csv' ? table : undefined;
  const bytes = csv ? Buffer.from(csvOf(csv)) : body === undefined ? undefined : bytesOf(body);
  const turnAfterPrinting = turns.next();
  if (turnAfterPrinting) await turnAfterPrinting;
  const links = nextCursor === undefined ? undefined : pageLinks(request, nextCursor);
  return {
    status,
    headers: {
      ...(bytes && {
        'Content-Type': `${csv ? 'text/csv' : 'application/json'}; charset=utf-8`,
        ...readHeaders(request, bytes, revision),
      }),
      ...(table && { Vary: 'Accept' }),
      ...(location !== undefined && { Location: location }),
      ...(links !== undefined && { Link: links }),
      ...(isTotalExact === false && { 'X-Total-Count-Exact': 'false' }),
    },
    ...(bytes && { body: bytes }),
    // Nothing reads the body after it has been sent.
    ...(release && bytes === body && { onSent: release }),
  };
}

function bytesOf(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
}

/**
 * The headers for conditional requests. The reply to a write has a tag if its body is a single resource with a
 * revision.
 */
function readHeaders(
  { method }: RestRequest,
  body: string | Uint8Array,
  revision?: number,
): Record<string, string> {
  const isRead = method === 'GET' || method === 'HEAD';
  return {
    ...((isRead || revision !== undefined) && { ETag: entityTag(body, revision) }),
    // Only the client itself may cache the answer, and must revalidate it.
    ...(isRead && { 'Cache-Control': 'private, no-cache' }),
  };
}

function contextOf(
  { scope, isProbe }: Route,
  request: RestRequest,
): OperationContext | Promise<OperationContext> {
  if (scope !== 'public') return request.context();
  return isProbe ? request.uncountedContext() : request.publicContext();
}

/** Checks the scope of the route, which is all that its operation needs, before the body is read. */
function requireRouteScope(schema: GraphQLSchema, route: Route, { principal }: OperationContext): void {
  const { method, path, scope, operation, fragments } = route;
  if (scope === 'public') return;
  // Without a principal, the scope rule of operations raises the error.
  if (!principal) return checkScopes({ schema, operation, fragments, variables: {} }, principal);
  if (scope === 'token' || principal.scopes.has(scope)) return;
  throw new InsufficientScopeError([{ field: `${method} ${path}`, scopes: [scope] }]);
}

/** Reads the JSON of the body. Checks its size first, then its type, then its content. */
async function readJsonBody(request: RestRequest): Promise<{ body: unknown } | { reply: HttpReply }> {
  const { headers, requestId } = request;
  const bytes = await request.body();
  if (isCompressed(headers) || !isJsonMediaType(headers['content-type'] ?? '')) {
    const failure = { code: 'unsupported_media_type', message: bodyTypeMessage } as const;
    return { reply: problemReply(failure, requestId) };
  }
  const read = readJson(bytes);
  if ('value' in read) return { body: read.value };
  const violations = [{ field: 'body', message: read.problem }];
  return { reply: problemReply(refusalOf('validation_failed', violations), requestId) };
}

function notFoundReply(
  { notFoundMessage: message = 'The resource does not exist.' }: Route,
  requestId: string,
): HttpReply {
  return problemReply({ code: 'not_found', message }, requestId);
}
