import { invalidArgument, WorkgraphError, type Violation } from './errors.ts';
import { createGraph, type Document, type Graph, type GraphOptions } from './graph.ts';
import { type Manifest, createDocumentNamer } from './manifest.ts';
import { type Send, sendWithRetries, unreachable } from './retries.ts';
import type { components, paths } from './rest.generated.ts';
import { createRest, type ListPath, type Rest } from './rest.ts';
import { type Change, createStreams, type Streams, type SubscriptionEvent } from './streams.ts';
import type { Connection } from './connection.ts';
import type { StreamOptions } from './events.ts';

// The client runs in Node, in browsers and in similar runtimes, so it uses only what they have in common: fetch, web
// streams and timers.

export { WorkgraphError };
export type {
  Change,
  Connection,
  Document,
  Graph,
  GraphOptions,
  ListPath,
  Manifest,
  Rest,
  StreamOptions,
  SubscriptionEvent,
  Violation,
};
export type { components, paths };

export interface ConnectOptions {
  /** The URL of the server: `https://work.example.com`. */
  readonly url: string;
  /** An access token, `wg_…`. */
  readonly token: string;
  /** Sends the requests, instead of the fetch of the runtime. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** The maximum number of times that a request is retried; 4 by default. Streams reconnect without a limit. */
  readonly retries?: number;
  /** How long an answer may take before it counts as lost; a minute by default. */
  readonly timeoutMs?: number;
  /** The longest `Retry-After` that the client waits for instead of throwing; a minute by default. */
  readonly longestWaitMs?: number;
  /** The documents that the server has in its `DOCUMENTS_FILE`. They are sent as their ids, all others as texts. */
  readonly documents?: Manifest;
}

/** One workspace, over both APIs. */
export interface Workgraph extends Streams {
  readonly graph: Graph;
  readonly rest: Rest;
}

/** Throws a WorkgraphError with the code `invalid_request` if an option cannot be used. */
export function connect(options: ConnectOptions): Workgraph {
  const { retries = 4, timeoutMs = 60_000, longestWaitMs = 60_000 } = options;
  const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const url = requireUrl(options.url);
  const headers = { Authorization: `Bearer ${requireToken(options.token)}` };
  const nameOf = createDocumentNamer(options.documents);
  const retryOptions = { fetch, retries, timeoutMs, longestWaitMs };
  const send: Send = (request, sendOptions) => sendWithRetries(retryOptions, request, sendOptions);
  const fetchStream = async (request: Request) => {
    try {
      return await fetch(request);
    } catch (error) {
      throw unreachable(request, error);
    }
  };
  return {
    graph: createGraph(`${url}/graphql`, headers, send, nameOf),
    rest: createRest(url, headers, send),
    ...createStreams(url, headers, { fetch: fetchStream, longestWaitMs, nameOf }),
  };
}

/** The paths of the APIs are appended to the URL, so it may not have a query or a fragment. */
function requireUrl(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password && !/[?#]/.test(text);
  if (!isPlain)
    throw invalidArgument('url', 'must be the address of the server, such as `https://work.example.com`.');
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

/** A header cannot hold most other characters, and the server would refuse a token with the rest. */
function requireToken(text: string): string {
  const token = text.trim();
  if (token === '') throw invalidArgument('token', 'must be an access token, `wg_…`; it is empty.');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw invalidArgument('token', 'must be an access token, `wg_…`; it has characters that no token has.');
  return token;
}
