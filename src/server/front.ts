import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { withMeter } from '../db/engine/meter.ts';
import { ReadAllowance } from '../db/engine/read-allowance.ts';
import { isOurs } from '../executor/answers/errors.ts';
import { headRule, maxAnswerBytes, maxHeaderBytes } from '../executor/limits.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import { inTime, TooLate } from './limits/in-time.ts';
import type { HttpReply } from '../rest-compat/http-reply.ts';
import type { RestHandler } from '../rest-compat/rest-handler.ts';
import { problemDetails } from '../rest-compat/problem.ts';
import { type Admission, busy, type AdmissionTicket } from './limits/admission.ts';
import type { Clients } from './http/clients.ts';
import type { Contexts } from './context.ts';
import type { CrossOrigin } from './http/cross-origin.ts';
import { refusal, refuseEarly } from './http/early-refusal.ts';
import type { FileHandler } from './files.ts';
import type { GraphQLHandler } from './graphql/graphql.ts';
import { acceptedMediaType } from './graphql/graphql-request.ts';
import { discardRest, HttpBody } from './http/body.ts';
import { type HttpViolation, httpViolation, problemOfViolation } from './http/http-rules.ts';
import type { Metrics, Served } from './observability/metrics.ts';
import type { Tracing } from './observability/tracing.ts';
import type { Pages } from './pages/pages.ts';
import { Pipelines } from './http/pipelines.ts';
import { errorReply, sendReply } from './http/reply.ts';
import { loggedOf, logRequest } from './observability/request-log.ts';
import { StreamAdmission } from './limits/stream-admission.ts';
import { type Refused, type Refusee, Refusals } from './limits/refusals.ts';
import { ServerRequest } from './http/request.ts';
import type { Unsent } from './http/unsent.ts';
import { stoppingMessage } from './stopping.ts';

export interface FrontOptions {
  readonly admission: Admission;
  readonly contexts: Contexts;
  readonly graphql: GraphQLHandler;
  readonly rest: RestHandler;
  readonly pages: Pages;
  readonly files: FileHandler | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly clients: Clients;
  readonly unsent: Unsent;
  readonly crossOrigin: CrossOrigin;
  /** How long a client may take to send a request. */
  readonly clientMs: number;
}

/** Takes every request: passes it to a handler, sends the reply and writes one log line. */
export function createFront(options: FrontOptions): (req: IncomingMessage, res: ServerResponse) => void {
  const { admission, contexts, clients, crossOrigin, graphql, rest, metrics, clientMs } = options;
  const refusals = new Refusals(options.logger);
  const pipelines = new Pipelines();
  const streamAdmission = new StreamAdmission(admission);
  const take = (req: IncomingMessage, res: ServerResponse, isTooMany: boolean) => {
    const startedMs = performance.now();
    const request = new ServerRequest(req, new HttpBody(req, res), contexts, { clients, clientMs });
    const begin = (ticket?: AdmissionTicket) => {
      request.ticket = ticket;
      void withMeter(() => answer(request, req, res, { ...options, startedMs, violation }), {
        deadline: ticket?.deadline,
        allowance: new ReadAllowance(maxAnswerBytes),
        subject: request,
      });
    };
    const violation = httpViolation(req);
    if (violation) return begin();
    const isGraphQL = request.path === '/graphql';
    const refuse = (refused: Refused, served: Served, refusee: Refusee = {}) => {
      if (contexts.draining) res.shouldKeepAlive = false;
      const commonHeaders = { ...crossOrigin.headers(request), ...request.allowance?.headers() };
      refuseEarly(request, req, res, { refused, commonHeaders });
      refusals.note(refusee);
      metrics?.count(served, res.statusCode, performance.now() - startedMs);
    };
    const unread: Served = { face: isGraphQL ? 'graphql' : 'rest', route: 'other', operation: 'other' };
    const refuseUnread = (refused: Refused) => refuse(refused, unread);
    const refuseBusy = () => refuseUnread(tooBusy);
    if (isTooMany) return refuseBusy();
    // Probes, pages and files do not pass through admission. Files proceed at the speed of the client.
    if (!isGraphQL && !request.path.startsWith('/v1/')) return begin();
    const { authorization } = req.headers;
    const overdrawn = contexts.overdrawn(authorization);
    const unknown = overdrawn ? undefined : contexts.refusalOfUnknownToken(request.address, authorization);
    const counted = (overdrawn || unknown) && countedAs(request, { graphql, rest });
    if (overdrawn && counted) {
      // Refused before admission and without reading the body, because a client over its quota may send thousands a second.
      request.allowance = overdrawn.allowance;
      return refuse(overdrawn.refused, counted, { tokenId: overdrawn.tokenId });
    }
    if (unknown && counted) return refuse(unknown, counted, { address: request.address });
    const isStream = asksForStream(request);
    // The stream would end soon anyway, and waiting in the queue it would only keep the stopping server busy.
    if (isStream && contexts.draining) return refuseUnread(retrySoon(stoppingMessage));
    const gate = isStream ? streamAdmission : admission;
    // This may run while another request gives its ticket back. With a meter of its own, nothing here counts for that request.
    const noteGone = () =>
      withMeter(async () => {
        const tookMs = performance.now() - startedMs;
        logRequest(options.logger, loggedOf(request), request, 499, tookMs);
        metrics?.count(unread, 499, tookMs);
      });
    let isWaiting = true;
    const ticket = gate.enter(
      (given) => {
        isWaiting = false;
        if (!req.socket.destroyed) return begin(given);
        given.leave();
        void noteGone();
      },
      () => {
        isWaiting = false;
        if (req.socket.destroyed) void noteGone();
        else refuseBusy();
      },
    );
    if (!isWaiting) return;
    res.once('close', () => {
      if (isWaiting) ticket.deadline.abandon();
    });
  };
  return (req, res) =>
    pipelines.enter(
      req,
      res,
      () => take(req, res, false),
      () => take(req, res, true),
    );
}

/** Whether the client accepts nothing but a stream of events, or prefers it. */
function asksForStream(request: ServerRequest): boolean {
  return request.path === '/graphql'
    ? acceptedMediaType(request.headers.accept) === 'text/event-stream'
    : request.prefersEvents;
}

const tooBusy = retrySoon(busy);

function retrySoon(message: string): Refused {
  return { code: 'unavailable', message, retryAfterSeconds: 1 };
}

/** The label for metrics of a request that counts against its token; undefined for any other request. */
function countedAs(
  request: ServerRequest,
  { graphql, rest }: Pick<FrontOptions, 'graphql' | 'rest'>,
): Served | undefined {
  if (request.path === '/graphql')
    return graphql.counts(request) ? { face: 'graphql', route: '/graphql', operation: 'other' } : undefined;
  const route = rest.counted(request);
  return route && { face: 'rest', route: route.path, operation: route.operation.name.value };
}

async function answer(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  options: FrontOptions & { startedMs: number; violation: HttpViolation | undefined },
): Promise<void> {
  const { startedMs, violation } = options;
  const { ticket, requestId } = request;
  const { logger } = options;
  const endSpan = options.tracing?.begin(request);
  const logged = loggedOf(request);
  res.on('close', () => {
    if (!res.writableFinished) ticket?.deadline.abandon();
    const status = res.writableFinished || request.isStream ? res.statusCode : 499;
    const tookMs = performance.now() - startedMs;
    logRequest(logger, logged, request, status, tookMs);
    options.metrics?.count(request.served, status, tookMs);
    endSpan?.(status);
  });
  // After a request that violates HTTP, it is not certain where the next one begins.
  if (violation) res.shouldKeepAlive = false;
  const reply = violation
    ? problemDetails(problemOfViolation(violation, requestId))
    : await inTime(route(request, req, res, options), ticket?.deadline).catch((error: unknown) => {
        if (isOurs(error)) options.contexts.report(request, error);
        if (error instanceof TooLate) return refusal(request, retrySoon(error.message));
        return errorReply(error, requestId);
      });
  ticket?.leave();
  // An unread body would be parsed as the next request of the connection, and it may be endless.
  const unread = req.complete ? undefined : discardRest(req, res);
  if (options.contexts.draining) res.shouldKeepAlive = false;
  const commonHeaders = [
    options.crossOrigin.headers(request),
    request.allowance?.headers(),
    // If the database does not answer, another statement would only make the client wait.
    reply.status === 503 ? undefined : await request.consistencyHeaders(),
  ];
  request.release();
  // Not awaited: while a slow client reads, everything that led to the answer can be freed.
  return sendReply(res, reply, request, { commonHeaders, unread, unsent: options.unsent }).catch(
    (error: unknown) => {
      logger.warn({ err: error, ...logged }, 'sending the answer failed');
      res.destroy();
    },
  );
}

async function route(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  { graphql, rest, pages, files, crossOrigin }: FrontOptions,
): Promise<HttpReply> {
  if (lengthOf(req.rawHeaders) > maxHeaderBytes) raise('headers_too_large', headRule);
  const preflight = crossOrigin.preflight(request);
  if (preflight) return preflight;
  const file = files?.handle(request, req, res);
  if (file) {
    const reply = await file;
    request.served = { face: 'files', route: '/files', operation: 'other' };
    return reply;
  }
  if (request.path === '/graphql') return graphql.handle(request);
  const reply = await rest.handle(request);
  if (reply) return reply;
  const page = await pages.handle(request);
  if (page) {
    request.served = { face: 'pages', route: 'other', operation: 'other' };
    return page;
  }
  throw new AppError('not_found', 'There is nothing at this path.');
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
