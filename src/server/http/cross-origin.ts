import type { IncomingHttpHeaders } from 'node:http';
import { snapshotHeader } from '../../executor/run/snapshot-header.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';

interface CrossOriginOptions {
  readonly corsOrigins?: readonly string[] | undefined;
  readonly publicUrl?: string | undefined;
  readonly filesUrl?: string | undefined;
}

interface OriginRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Decides which pages of other origins may call this server (CORS): only those whose origins are configured. No answer allows
 * credentials. A page sends its token itself, and the browser adds nothing.
 */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;
  /** The service's own origin, whose pages may use files that are on another origin. */
  readonly #fileOrigins: ReadonlySet<string>;

  constructor({ corsOrigins = [], publicUrl, filesUrl }: CrossOriginOptions) {
    this.#origins = new Set(corsOrigins);
    this.#fileOrigins = new Set([
      ...corsOrigins,
      ...(filesUrl && publicUrl ? [new URL(publicUrl).origin] : []),
    ]);
  }

  /** The headers for the origin of a page. `Vary` is sent to all origins, or a cache could mix up their answers. */
  headers({ path, headers: { origin } }: OriginRequest): Record<string, string> {
    const origins = this.#allowed(path);
    if (origins.size === 0) return {};
    if (origin === undefined || !origins.has(origin)) return { Vary: 'Origin' };
    return {
      Vary: 'Origin',
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposedHeaders.join(', '),
    };
  }

  /** The answer to a preflight request; undefined when the request is not one, or its origin may not call this server. */
  preflight({ method, path, headers }: OriginRequest): HttpReply | undefined {
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    if (!isPreflight || !this.#allowed(path).has(headers.origin ?? '')) return undefined;
    return {
      status: 204,
      headers: {
        'Access-Control-Allow-Methods': isFile(path)
          ? 'GET, HEAD, PUT'
          : 'GET, HEAD, POST, PATCH, PUT, DELETE',
        'Access-Control-Allow-Headers': allowedHeaders.join(', '),
        'Access-Control-Max-Age': '600',
      },
    };
  }

  /** Whether a page of this origin may open a WebSocket. Browsers send no preflight request for it, and other clients send no origin. */
  opensSocket(origin: string | undefined, ownOrigin: string): boolean {
    return origin === undefined || origin === ownOrigin || this.#origins.has(origin);
  }

  #allowed(path: string): ReadonlySet<string> {
    return isFile(path) ? this.#fileOrigins : this.#origins;
  }
}

/** Whether this is the path of a file. */
export function isFile(path: string): boolean {
  return /^\/files(\/|$)/.test(path);
}

/** Whether the text is an origin as browsers send it: in lower case, without path and default port. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

/** The headers of answers that a page may read, in addition to the few that it always may. A test checks that none is missing. */
const exposedHeaders = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'WWW-Authenticate',
  'X-GraphQL-Operation',
  'X-Request-Id',
  'X-Total-Count-Exact',
  'X-Workgraph-Consistency',
  'X-Workspace-Version',
];

/** The headers that a page may send, in addition to the few that it always may. */
const allowedHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Range',
  'X-GraphQL-Cost',
  'X-Request-Id',
  'X-Workgraph-Consistency',
  snapshotHeader,
  'X-Workspace-Version',
];
