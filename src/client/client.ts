import { WorkgraphError, type Violation } from './errors.ts';
import { createGraph, type Document, type Graph, type GraphOptions } from './graph.ts';
import { sendWithRetries, unreachable } from './retries.ts';
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
  /** The maximum number of times that a request is repeated; 4 by default. Streams reconnect without a limit. */
  readonly retries?: number;
  /** How long an answer may take before it counts as lost; a minute by default. */
  readonly timeoutMs?: number;
  /** The longest `Retry-After` that the client waits for instead of throwing; a minute by default. */
  readonly longestWaitMs?: number;
}

/** One workspace, over both APIs. */
export interface Workgraph extends Streams {
  readonly graph: Graph;
  readonly rest: Rest;
}

export function connect(options: ConnectOptions): Workgraph {
  const { token, retries = 4, timeoutMs = 60_000, longestWaitMs = 60_000 } = options;
  const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const url = options.url.endsWith('/') ? options.url.slice(0, -1) : options.url;
  const headers = { Authorization: `Bearer ${token}` };
  const retryOptions = { fetch, retries, timeoutMs, longestWaitMs };
  const send = (request: Request, mayRepeat: boolean) => sendWithRetries(retryOptions, request, mayRepeat);
  return {
    graph: createGraph(`${url}/graphql`, headers, send),
    rest: createRest(url, headers, send),
    ...createStreams(url, headers, (request) =>
      fetch(request).catch((error: unknown) => {
        throw unreachable(request, error);
      }),
    ),
  };
}
