import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { metered, meter } from '../db/engine/meter.ts';
import type { Patience } from '../db/engine/deadline.ts';
import { isOurs } from '../executor/errors.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import type { RestFace, RestReply } from '../rest-compat/face.ts';
import { type Admission, busy, type Place } from './limits/admission.ts';
import type { Clients } from './http/clients.ts';
import type { Contexts } from './context.ts';
import type { CrossOrigin } from './http/cross-origin.ts';
import { refusal, type Refused, refuseEarly } from './http/early-refusal.ts';
import type { FileFace } from './files.ts';
import type { GraphQLFace } from './graphql/graphql.ts';
import { discardRest } from './http/body.ts';
import type { Metrics, Served } from './observability/metrics.ts';
import type { Pages } from './pages/pages.ts';
import { errorReply, sendReply } from './http/reply.ts';
import { Refusals } from './refusals.ts';
import { ServerRequest } from './http/request.ts';

export interface FrontOptions {
  readonly admission: Admission;
  readonly contexts: Contexts;
  readonly graphql: GraphQLFace;
  readonly rest: RestFace;
  readonly pages: Pages;
  readonly files: FileFace | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly clients: Clients;
  readonly crossOrigin: CrossOrigin;
  /** How long a client may take to send a request. */
  readonly clientMs: number;
}

/** Takes every request that comes in: hands it to a face, sends what comes back, writes one line of log. */
export function createFront(options: FrontOptions): (req: IncomingMessage, res: ServerResponse) => void {
  const { admission, contexts, clients, crossOrigin, graphql, rest, metrics, clientMs } = options;
  const refusals = new Refusals(options.logger);
  return (req, res) => {
    const startedMs = performance.now();
    const request = new ServerRequest(req, res, contexts, { clients, clientMs });
    const begin = (place?: Place) => {
      request.place = place;
      void metered(() => answer(request, req, res, { ...options, startedMs }), {
        patience: place?.patience,
        subject: request,
      });
    };
    const isGraphQL = request.path === '/graphql';
    // What asks for no work is always taken: probes, pages, and files, which have a pace of their own.
    if (!isGraphQL && !request.path.startsWith('/v1/')) return begin();
    const refuse = (refused: Refused, served: Served, tokenId?: string) => {
      if (contexts.draining) res.shouldKeepAlive = false;
      const given = { ...crossOrigin.headers(request), ...request.allowance?.headers() };
      refuseEarly(request, req, res, { refused, given });
      refusals.note(tokenId);
      metrics?.count(served, res.statusCode, performance.now() - startedMs);
    };
    const overdrawn = contexts.overdrawn(req.headers.authorization);
    const counted = overdrawn && countedAs(request, { graphql, rest });
    if (counted) {
      // It waits for no turn, takes nobody's, and is not even read: who is greedy sends thousands a second.
      request.allowance = overdrawn.allowance;
      return refuse(overdrawn.refused, counted, overdrawn.tokenId);
    }
    admission.enter(
      (place) => {
        if (req.socket.destroyed) place.leave();
        else begin(place);
      },
      () => refuse(tooBusy, { face: isGraphQL ? 'graphql' : 'rest', route: 'other', operation: 'other' }),
    );
  };
}

const tooBusy = retrySoon(busy);

function retrySoon(message: string): Refused {
  return { code: 'unavailable', message, retryAfterSeconds: 1 };
}

/** What a request is counted under that is counted against its token; undefined for any other. */
function countedAs(
  request: ServerRequest,
  { graphql, rest }: Pick<FrontOptions, 'graphql' | 'rest'>,
): Served | undefined {
  if (request.headers.host === undefined) return undefined;
  if (request.path === '/graphql')
    return graphql.counts(request) ? { face: 'graphql', route: '/graphql', operation: 'other' } : undefined;
  const route = rest.counted(request);
  return route && { face: 'rest', route: route.path, operation: route.operation.name.value };
}

async function answer(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  options: FrontOptions & { startedMs: number },
): Promise<void> {
  const { startedMs } = options;
  const { place, requestId, trace } = request;
  const { logger } = options;
  const logged = { requestId, ...trace?.logged };
  res.on('close', () => {
    if (!res.writableFinished) place?.patience.abandon();
    const status = res.writableFinished ? res.statusCode : 499;
    const tookMs = performance.now() - startedMs;
    logRequest(logger, logged, request, status, tookMs);
    options.metrics?.count(request.served, status, tookMs);
  });
  const reply = await inTime(route(request, req, res, options), place?.patience).catch((error: unknown) => {
    if (isOurs(error)) options.contexts.report(request, error);
    if (error instanceof TooLate) return refusal(request, retrySoon(error.message));
    return errorReply(error, request.requestId);
  });
  place?.leave();
  // A body that nobody has read would be taken for the next request of the connection, and may be endless.
  const unread = req.complete ? undefined : discardRest(req, res);
  if (options.contexts.draining) res.shouldKeepAlive = false;
  const given = [
    options.crossOrigin.headers(request),
    request.allowance?.headers(),
    // Where the data store does not answer, asking it once more would only make the client wait.
    reply.status === 503 ? undefined : await request.versionHeaders(),
  ];
  try {
    await sendReply(res, reply, request, { given, unread });
  } catch (error) {
    logger.warn({ err: error, ...logged }, 'the answer broke off');
    res.destroy();
  }
}

/**
 * Whatever a request waits for, its client is told in time. What goes on for it meanwhile finds its time over at the next
 * statement.
 */
function inTime(reply: Promise<RestReply>, patience: Patience | undefined): Promise<RestReply> {
  if (!patience) return reply;
  return new Promise((resolve, reject) => {
    let late: NodeJS.Timeout | undefined;
    const watch = () => {
      const { leftMs } = patience;
      if (leftMs <= 0) reject(new TooLate('unavailable', 'The request has taken too long; try again soon.'));
      // It may have got more time by then, when its client had taken some for itself.
      else late = setTimeout(watch, Math.min(Math.ceil(leftMs), longestWatchMs));
    };
    watch();
    reply.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

const longestWatchMs = 60_000;

class TooLate extends AppError {}

async function route(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  { graphql, rest, pages, files, crossOrigin }: FrontOptions,
): Promise<RestReply> {
  if (req.httpVersion === '1.1' && req.headers.host === undefined)
    raise('invalid_request', 'The request has no Host.');
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

const probes: ReadonlySet<string> = new Set(['/health', '/healthz', '/readyz']);

/** The path without its query, which may hold a signature. */
function logRequest(
  logger: Logger,
  logged: object,
  request: ServerRequest,
  status: number,
  tookMs: number,
): void {
  const level = status >= 500 ? 'warn' : probes.has(request.path) ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  logger[level](
    {
      ...logged,
      method: request.method,
      path: request.path.slice(0, 200),
      status,
      address: request.address,
      ms: Math.round(tookMs * 10) / 10,
      ...(request.operationName && { operation: request.operationName.slice(0, 100) }),
      ...(request.cause && { cause: request.cause }),
      statements: meter()?.statements ?? 0,
    },
    `${request.method} ${request.path.slice(0, 200)} ${status}`,
  );
}
