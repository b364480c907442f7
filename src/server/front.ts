import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { metered, meter } from '../db/meter.ts';
import { expectedError } from '../executor/errors.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import type { RestFace, RestReply } from '../rest-compat/face.ts';
import type { Clients } from './clients.ts';
import type { Contexts } from './context.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { FileFace } from './files.ts';
import type { GraphQLFace } from './graphql.ts';
import { discardRest } from './body.ts';
import type { Metrics } from './metrics.ts';
import type { Pages } from './pages.ts';
import { errorReply, sendReply } from './reply.ts';
import { ServerRequest } from './request.ts';

export interface FrontOptions {
  readonly contexts: Contexts;
  readonly graphql: GraphQLFace;
  readonly rest: RestFace;
  readonly pages: Pages;
  readonly files: FileFace | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly clients: Clients;
  readonly crossOrigin: CrossOrigin;
}

/** Takes every request that comes in: hands it to a face, sends what comes back, writes one line of log. */
export function createFront(options: FrontOptions): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const request = new ServerRequest(req, res, options.contexts, options.clients);
    void metered(() => answer(request, req, res, options));
  };
}

async function answer(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  options: FrontOptions,
): Promise<void> {
  const startedMs = performance.now();
  const logger = options.logger.child({ requestId: request.requestId });
  res.on('close', () => {
    const status = res.writableFinished ? res.statusCode : 499;
    const tookMs = performance.now() - startedMs;
    logRequest(logger, request, status, tookMs);
    options.metrics?.count(request.served, status, tookMs);
  });
  const reply = await route(request, req, res, options).catch((error: unknown) => {
    if (!expectedError(error)) logger.error({ err: error }, 'an unexpected error was masked');
    return errorReply(error, request.requestId);
  });
  // A body that nobody has read would be taken for the next request of the connection, and may be endless.
  const unread = req.complete ? undefined : discardRest(req, res);
  if (options.contexts.draining) res.shouldKeepAlive = false;
  const given = {
    ...options.crossOrigin.headers(request),
    ...request.allowance?.headers(),
    ...(await request.versionHeaders()),
  };
  for (const [name, value] of Object.entries(given)) res.setHeader(name, value);
  try {
    await sendReply(res, reply, request, unread);
  } catch (error) {
    logger.warn({ err: error }, 'the answer broke off');
    res.destroy();
  }
}

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
  const file = await files?.handle(request, req, res);
  if (file) {
    request.served = { face: 'files', route: '/files', operation: 'other' };
    return file;
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
function logRequest(logger: Logger, request: ServerRequest, status: number, tookMs: number): void {
  const level = status >= 500 ? 'warn' : probes.has(request.path) ? 'debug' : 'info';
  logger[level](
    {
      method: request.method,
      path: request.path.slice(0, 200),
      status,
      address: request.address,
      ms: Math.round(tookMs * 10) / 10,
      ...(request.operationName && { operation: request.operationName.slice(0, 100) }),
      statements: meter()?.statements ?? 0,
    },
    `${request.method} ${request.path.slice(0, 200)} ${status}`,
  );
}
