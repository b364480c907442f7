import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { withMeter } from '../db/engine/meter.ts';
import { isServerError } from '../executor/answers/errors.ts';
import { headersTooLargeMessage, maxHeaderBytes } from '../executor/limits.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import { DeadlineExceededError, withDeadline } from './limits/with-deadline.ts';
import type { HttpReply } from '../rest-compat/http-reply.ts';
import type { RestHandler } from '../rest-compat/rest-handler.ts';
import { problemDetails } from '../rest-compat/problem.ts';
import { type Admission, type AdmissionTicket, busy, type Gate } from './limits/admission.ts';
import type { Clients } from './http/clients.ts';
import type { Callers } from './callers.ts';
import type { Contexts } from './context.ts';
import type { CrossOrigin } from './http/cross-origin.ts';
import { refusal, refuseEarly } from './http/early-refusal.ts';
import type { FileHandler } from './file-handler.ts';
import type { GraphQLHandler } from './graphql/graphql.ts';
import { acceptedMediaType } from './graphql/graphql-request.ts';
import { discardRest, HttpBody } from './http/read-body.ts';
import { type HttpViolation, httpViolation, problemOfViolation } from './http/http-rules.ts';
import type { Metrics, RequestLabels } from './observability/metrics.ts';
import type { Tracing } from './observability/tracing.ts';
import type { Pages } from './pages/pages.ts';
import { Pipelines } from './http/pipelines.ts';
import { errorReply, sendReply, nothingHere } from './http/reply.ts';
import { loggedOf, logRequest } from './observability/request-log.ts';
import { withRequestLimits } from './limits/request-limits.ts';
import { StreamAdmission } from './limits/stream-admission.ts';
import { type RefusalReason, type RefusedCaller, Refusals } from './limits/refusals.ts';
import { ServerRequest } from './http/request.ts';
import type { UnfinishedBodies } from './http/unfinished-bodies.ts';
import type { Unsent } from './http/unsent.ts';
import { stoppingMessage } from './stopping.ts';

export interface FrontOptions {
  readonly admission: Admission;
  readonly callers: Callers;
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
  readonly unfinishedBodies: UnfinishedBodies;
  readonly crossOrigin: CrossOrigin;
  /** How long a client may take to send a request. */
  readonly clientMs: number;
}

/** A request and its answer. */
interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly request: ServerRequest;
  readonly startedMs: number;
  /** The rule of HTTP that the request violates. */
  readonly violation: HttpViolation | undefined;
}

/** Why a request is refused before it is admitted, and how that counts. */
interface EarlyRefusal {
  readonly refused: RefusalReason;
  /** The label for metrics; without it the request counts as one that was not read. */
  readonly labels?: RequestLabels;
  /** The caller, if the request is refused because of its caller. */
  readonly caller?: RefusedCaller;
}

/** Takes every request: passes it to a handler, sends the reply and writes one log line. */
export class Front {
  readonly #options: FrontOptions;
  readonly #refusals: Refusals;
  readonly #streamAdmission: StreamAdmission;
  readonly #pipelines = new Pipelines();

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#refusals = new Refusals(options.logger);
    this.#streamAdmission = new StreamAdmission(options.admission);
  }

  /** Takes a request of Node's server when the earlier ones of its connection are answered. */
  handle(req: IncomingMessage, res: ServerResponse): void {
    this.#pipelines.enter(
      req,
      res,
      () => this.#accept(this.#exchangeOf(req, res)),
      () => this.#refuse(this.#exchangeOf(req, res), { refused: tooBusy }),
    );
  }

  #exchangeOf(req: IncomingMessage, res: ServerResponse): Exchange {
    const { contexts, clients, clientMs, unfinishedBodies } = this.#options;
    const body = new HttpBody(req, res, unfinishedBodies);
    const request = new ServerRequest(req, body, contexts, { clients, clientMs });
    return { req, res, request, startedMs: performance.now(), violation: httpViolation(req) };
  }

  /** Begins a request, lets it wait for its admission, or refuses it before its body is read. */
  #accept(exchange: Exchange): void {
    const { request, violation } = exchange;
    // Probes, pages and files do not pass through admission. Files proceed at the speed of the client.
    const needsAdmission = request.path === '/graphql' || request.path.startsWith('/v1/');
    if (violation || !needsAdmission) return this.#begin(exchange);
    const overQuota = this.#overQuota(request);
    if (overQuota) return this.#refuse(exchange, overQuota);
    if (!asksForStream(request)) return this.#admit(exchange, this.#options.admission);
    // The stream would end soon anyway, and waiting in the queue it would only keep the stopping server busy.
    if (this.#options.contexts.draining)
      return this.#refuse(exchange, { refused: retrySoon(stoppingMessage) });
    return this.#admit(exchange, this.#streamAdmission);
  }

  /** Why the caller of a request may send no more; undefined if it may, or if the request does not count. */
  #overQuota(request: ServerRequest): EarlyRefusal | undefined {
    const { callers } = this.#options;
    const { authorization } = request.headers;
    const overdrawn = callers.overdrawn(authorization);
    if (overdrawn) {
      const labels = countedLabels(request, this.#options);
      if (!labels) return undefined;
      request.allowance = overdrawn.allowance;
      return { refused: overdrawn.refused, labels, caller: { tokenId: overdrawn.tokenId } };
    }
    const refused = callers.refusalOfUnknownToken(request.address, authorization);
    const labels = refused && countedLabels(request, this.#options);
    return labels && { refused, labels, caller: { address: request.address } };
  }

  /**
   * Answers before the body is read: a client over its quota, like clients in an overload, may send thousands of requests a
   * second.
   */
  #refuse({ request, req, res, startedMs }: Exchange, { refused, labels, caller = {} }: EarlyRefusal): void {
    const { contexts, crossOrigin, metrics } = this.#options;
    if (contexts.draining) res.shouldKeepAlive = false;
    const commonHeaders = { ...crossOrigin.headers(request), ...request.allowance?.headers() };
    refuseEarly(request, req, res, { refused, commonHeaders });
    this.#refusals.note(caller);
    metrics?.count(labels ?? unreadLabels(request), res.statusCode, performance.now() - startedMs);
  }

  /** Begins a request when the gate admits it. A request whose client has gone leaves the queue. */
  #admit(exchange: Exchange, gate: Gate): void {
    const { req, res } = exchange;
    let isWaiting = true;
    const ticket = gate.enter(
      (admitted) => {
        isWaiting = false;
        if (!req.socket.destroyed) return this.#begin(exchange, admitted);
        admitted.leave();
        this.#noteDisconnected(exchange);
      },
      () => {
        isWaiting = false;
        if (req.socket.destroyed) this.#noteDisconnected(exchange);
        else this.#refuse(exchange, { refused: tooBusy });
      },
    );
    if (!isWaiting) return;
    res.once('close', () => {
      if (isWaiting) ticket.deadline.abort();
    });
  }

  /** Logs and counts a request whose client has gone while it waited. */
  #noteDisconnected({ request, startedMs }: Exchange): void {
    // This may run while another request gives its ticket back. With a meter of its own, nothing here counts for that request.
    void withMeter(async () => {
      const tookMs = performance.now() - startedMs;
      logRequest(this.#options.logger, loggedOf(request), request, 499, tookMs);
      this.#options.metrics?.count(unreadLabels(request), 499, tookMs);
    });
  }

  #begin(exchange: Exchange, ticket?: AdmissionTicket): void {
    const { request } = exchange;
    request.ticket = ticket;
    void withRequestLimits({ deadline: ticket?.deadline, loggedRequest: request }, () =>
      this.#answer(exchange),
    );
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { req, res, request, startedMs, violation } = exchange;
    const { ticket, requestId } = request;
    const { contexts, crossOrigin, logger, metrics, tracing, unsent } = this.#options;
    const endSpan = tracing?.begin(request);
    const logged = loggedOf(request);
    res.on('close', () => {
      if (!res.writableFinished) ticket?.deadline.abort();
      const status = res.writableFinished || request.isStream ? res.statusCode : 499;
      const tookMs = performance.now() - startedMs;
      logRequest(logger, logged, request, status, tookMs);
      metrics?.count(request.labels, status, tookMs);
      endSpan?.(status);
    });
    // After a request that violates HTTP, it is not certain where the next one begins.
    if (violation) res.shouldKeepAlive = false;
    const reply = violation
      ? problemDetails(problemOfViolation(violation, requestId))
      : await withDeadline(this.#route(exchange), ticket?.deadline).catch((error: unknown) => {
          if (isServerError(error)) contexts.report(request, error);
          if (error instanceof DeadlineExceededError) return refusal(request, retrySoon(error.message));
          return errorReply(error, requestId);
        });
    ticket?.leave();
    // An unread body would be parsed as the next request of the connection, and it may be endless.
    const unreadBody = req.complete ? undefined : discardRest(req, res);
    if (contexts.draining) res.shouldKeepAlive = false;
    const commonHeaders = [
      crossOrigin.headers(request),
      request.allowance?.headers(),
      // If the database does not answer, another statement would only make the client wait.
      reply.status === 503 ? undefined : await request.consistencyHeaders(),
    ];
    request.release();
    // Not awaited: while a slow client reads, everything that led to the answer can be freed.
    return sendReply(res, reply, request, { commonHeaders, unread: unreadBody, unsent }).catch(
      (error: unknown) => {
        logger.warn({ err: error, ...logged }, 'sending the answer failed');
        res.destroy();
      },
    );
  }

  async #route({ req, res, request }: Exchange): Promise<HttpReply> {
    const { graphql, rest, pages, files, crossOrigin } = this.#options;
    if (lengthOf(req.rawHeaders) > maxHeaderBytes) raise('headers_too_large', headersTooLargeMessage);
    const preflight = crossOrigin.preflight(request);
    if (preflight) return preflight;
    const file = files?.handle(request, req, res);
    if (file) {
      const reply = await file;
      request.labels = { face: 'files', route: '/files', operation: 'other' };
      return reply;
    }
    if (request.path === '/graphql') return graphql.handle(request);
    const reply = await rest.handle(request);
    if (reply) return reply;
    const page = await pages.handle(request);
    if (page) {
      request.labels = { face: 'pages', route: 'other', operation: 'other' };
      return page;
    }
    throw new AppError('not_found', nothingHere);
  }
}

/** Whether the client accepts nothing but a stream of events, or prefers it. */
function asksForStream(request: ServerRequest): boolean {
  return request.path === '/graphql'
    ? acceptedMediaType(request.headers.accept) === 'text/event-stream'
    : request.method === 'GET' && request.prefersEvents;
}

const tooBusy = retrySoon(busy);

function retrySoon(message: string): RefusalReason {
  return { code: 'unavailable', message, retryAfterSeconds: 1 };
}

/** The label for metrics of a request whose body was not read. */
function unreadLabels({ path }: ServerRequest): RequestLabels {
  return { face: path === '/graphql' ? 'graphql' : 'rest', route: 'other', operation: 'other' };
}

/** The label for metrics of a request that counts against its token; undefined for any other request. */
function countedLabels(
  request: ServerRequest,
  { graphql, rest }: Pick<FrontOptions, 'graphql' | 'rest'>,
): RequestLabels | undefined {
  if (request.path === '/graphql')
    return graphql.counts(request) ? { face: 'graphql', route: '/graphql', operation: 'other' } : undefined;
  const route = rest.countedRoute(request);
  return route && { face: 'rest', route: route.path, operation: route.operation.name.value };
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
