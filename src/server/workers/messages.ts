import type { Registry } from 'prom-client';
import type { Grant } from '../limits/leased-buckets.ts';

/** The metrics of one process, in the form that prom-client aggregates. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** A change of the number of streams of a token. */
export interface StreamsOfToken {
  readonly tokenId: string;
  readonly change: number;
}

/** The content of the first message to a worker. */
export interface WorkerStart {
  /** From 1. A worker that replaces another one has its number. */
  readonly number: number;
  /** How many workers there are. */
  readonly workers: number;
  /** The port to listen on, which the supervisor has chosen if the setting is 0. */
  readonly port: number;
  /** Whether it is the first worker of its supervisor: it alone migrates, adds the demo and warns of other servers. */
  readonly isFirst: boolean;
}

/** The messages of the supervisor to a worker. */
export type ToWorker =
  | ({ readonly kind: 'start' } & WorkerStart)
  /** Listen on sockets of your own. */
  | { readonly kind: 'listen' }
  /** Comes with a listening socket of the worker that is replaced. */
  | { readonly kind: 'socket' }
  /** All sockets of the worker that is replaced have been sent. */
  | { readonly kind: 'sockets sent' }
  /** Comes with a connection that the supervisor accepted while it passed a socket on. */
  | { readonly kind: 'connection' }
  /** Send your listening sockets, and continue to use them. */
  | { readonly kind: 'send sockets' }
  /** Do what only one worker does: listen for notifications of PostgreSQL, and clean up. */
  | { readonly kind: 'lead' }
  | { readonly kind: 'notification'; readonly channel: string; readonly payload: string }
  | { readonly kind: 'gap' }
  | { readonly kind: 'granted'; readonly id: number; readonly grant: Grant }
  /** Callers whose buckets of objects are used up, and the levels of these. */
  | { readonly kind: 'indebted'; readonly debts: readonly (readonly [caller: string, level: number])[] }
  | { readonly kind: 'unknown token'; readonly caller: string }
  /** A token writes at another worker. */
  | { readonly kind: 'wrote'; readonly tokenId: string }
  | ({ readonly kind: 'streams' } & StreamsOfToken)
  | { readonly kind: 'read metrics'; readonly id: number }
  /** Asks the worker for a sign of life. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'stop'; readonly why: 'stopping' | 'replaced' };

/** The messages of a worker to the supervisor. */
export type FromWorker =
  /** It has a database and could listen. */
  | { readonly kind: 'prepared' }
  | { readonly kind: 'ready'; readonly url: string; readonly token: string | undefined }
  | { readonly kind: 'socket' }
  | { readonly kind: 'sockets sent' }
  | { readonly kind: 'notification'; readonly channel: string; readonly payload: string }
  | { readonly kind: 'gap' }
  | { readonly kind: 'take'; readonly id: number; readonly caller: string; readonly unused: number }
  | { readonly kind: 'return'; readonly caller: string; readonly unused: number }
  | { readonly kind: 'charge'; readonly costs: readonly (readonly [caller: string, cost: number])[] }
  | { readonly kind: 'unknown token'; readonly caller: string }
  | { readonly kind: 'wrote'; readonly tokenId: string }
  | ({ readonly kind: 'streams' } & StreamsOfToken)
  | { readonly kind: 'metrics'; readonly id: number | undefined; readonly snapshot: MetricsSnapshot }
  | { readonly kind: 'pong' };
