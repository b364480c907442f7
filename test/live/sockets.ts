import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { App } from '../support/app.ts';
import { sampleOf } from '../support/metrics.ts';

export const socketUrl = (url: string): string => `${url.replace('http', 'ws')}/graphql`;

export const changesDocument =
  'subscription ($after: String) { changes(after: $after) { cursor eventType issue { key } } }';

/** Opens a WebSocket without a client library; `closed` resolves with its close code. */
export function openSocket(
  url: string,
  { protocol = 'graphql-transport-ws', origin }: { protocol?: string; origin?: string } = {},
): { socket: WebSocket; closed: Promise<number>; send: (message: unknown) => Promise<void> } {
  const socket = new WebSocket(socketUrl(url), protocol, origin === undefined ? {} : { origin });
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const send = async (message: unknown) => {
    if (socket.readyState !== WebSocket.OPEN) await once(socket, 'open');
    socket.send(JSON.stringify(message));
  };
  return { socket, closed, send };
}

/** How many streams of GraphQL are open. */
export function openStreams(app: Pick<App, 'metricsUrl'>): Promise<number> {
  return sampleOf(app, 'workgraph_streams', 'of="graphql"');
}
