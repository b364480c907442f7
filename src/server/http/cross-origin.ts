import type { IncomingHttpHeaders } from 'node:http';
import type { RestReply } from '../../rest-compat/face.ts';

interface CrossOriginOptions {
  readonly corsOrigins?: readonly string[] | undefined;
  readonly publicUrl?: string | undefined;
  readonly filesUrl?: string | undefined;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Which pages of other origins may ask this server (CORS): those that the configuration names, and nobody else. No
 * answer allows credentials: a page sends its token itself, and a browser adds nothing to it.
 */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;
  /** Pages of the service's own origin may use files that have another one. */
  readonly #fileOrigins: ReadonlySet<string>;

  constructor({ corsOrigins = [], publicUrl, filesUrl }: CrossOriginOptions) {
    this.#origins = new Set(corsOrigins);
    this.#fileOrigins = new Set([
      ...corsOrigins,
      ...(filesUrl && publicUrl ? [new URL(publicUrl).origin] : []),
    ]);
  }

  /** What the answer says to the page that asks; `Vary` also to those who may not, or a cache would mix them up. */
  headers({ path, headers: { origin } }: Asked): Record<string, string> {
    const origins = this.#allowed(path);
    if (origins.size === 0) return {};
    if (origin === undefined || !origins.has(origin)) return { Vary: 'Origin' };
    return {
      Vary: 'Origin',
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposed.join(', '),
    };
  }

  /** The answer to the question that a browser asks before a request; undefined when this is none, or nobody's. */
  preflight({ method, path, headers }: Asked): RestReply | undefined {
    const asks = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    if (!asks || !this.#allowed(path).has(headers.origin ?? '')) return undefined;
    return {
      status: 204,
      headers: {
        'Access-Control-Allow-Methods': isFile(path)
          ? 'GET, HEAD, PUT'
          : 'GET, HEAD, POST, PATCH, PUT, DELETE',
        'Access-Control-Allow-Headers': taken.join(', '),
        'Access-Control-Max-Age': '600',
      },
    };
  }

  #allowed(path: string): ReadonlySet<string> {
    return isFile(path) ? this.#fileOrigins : this.#origins;
  }
}

/** Is it the path of a file's bytes. */
export function isFile(path: string): boolean {
  return /^\/files(\/|$)/.test(path);
}

/** An origin as browsers write it: no path, no default port, in lower case. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

/** Headers of answers that a page may read beside the few that it always may; a test holds the list whole. */
const exposed = [
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
  'X-Workspace-Version',
];

/** Headers that a page may send beside the few that it always may. */
const taken = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Range',
  'X-GraphQL-Cost',
  'X-Request-Id',
  'X-Workspace-Version',
];
