import type { Logger } from 'pino';
import { meter } from '../../db/engine/meter.ts';
import type { ServerRequest } from '../http/request.ts';

const probes: ReadonlySet<string> = new Set(['/health', '/healthz', '/readyz']);

/** What all lines about a request contain. */
export function loggedOf({ requestId, trace }: Pick<ServerRequest, 'requestId' | 'trace'>): object {
  return { requestId, ...trace?.logged };
}

/** One line about a request that has ended. It has the path without the query, which may contain a signature. */
export function logRequest(
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
