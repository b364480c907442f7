import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { App } from '../support/app.ts';
import { sampleOf } from '../support/metrics.ts';

export const socketUrl = (url: string): string => `${url.replace('http', 'ws')}/graphql`;

export const follow =
  'subscription ($after: String) { changes(after: $after) { cursor eventType issue { key } } }';

/** A bare connection, and how it is closed. */
export function bare(
  url: string,
  { protocol = 'graphql-transport-ws', origin }: { protocol?: string; origin?: string } = {},
): { socket: WebSocket; closed: Promise<number>; say: (message: unknown) => Promise<void> } {
  const socket = new WebSocket(socketUrl(url), protocol, origin === undefined ? {} : { origin });
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const say = async (message: unknown) => {
    if (socket.readyState !== WebSocket.OPEN) await once(socket, 'open');
    socket.send(JSON.stringify(message));
  };
  return { socket, closed, say };
}

/** How many streams of GraphQL are open. */
export function openStreams(app: Pick<App, 'metricsUrl'>): Promise<number> {
  return sampleOf(app, 'workgraph_streams', 'of="graphql"');
}
