import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { App } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf } from '../support/metrics.ts';

export const socketUrl = (url: string): string => `${url.replace('http', 'ws')}/graphql`;

export const changesDocument =
  'subscription ($after: String) { changes(after: $after) { cursor eventType issue { key } } }';

/** A WebSocket without a client library. */
export interface RawSocket {
  socket: WebSocket;
  /** Resolves with the close code. */
  closed: Promise<number>;
  /** Sends a message as JSON, as soon as the socket is open. */
  send: (message: unknown) => Promise<void>;
}

/** Opens a WebSocket. */
export function openSocket(
  url: string,
  { protocol = 'graphql-transport-ws', origin }: { protocol?: string; origin?: string } = {},
): RawSocket {
  const socket = new WebSocket(socketUrl(url), protocol, origin === undefined ? {} : { origin });
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const send = async (message: unknown) => {
    if (socket.readyState !== WebSocket.OPEN) await once(socket, 'open');
    socket.send(JSON.stringify(message));
  };
  return { socket, closed, send };
}

/** The message with which a client signs in. */
export function connectionInit(token: string): { type: string; payload: object } {
  return { type: 'connection_init', payload: { Authorization: `Bearer ${token}` } };
}

/** Opens a WebSocket and signs in; `tcp` is its connection. */
export async function signIn(url: string, token: string): Promise<RawSocket & { tcp: Socket }> {
  const connection = openSocket(url);
  const [{ socket: tcp }] = (await once(connection.socket, 'upgrade')) as [IncomingMessage];
  await connection.send(connectionInit(token));
  await once(connection.socket, 'message');
  return { ...connection, tcp };
}

/** Collects the messages that arrive from now on, parsed, in a list that grows. */
export function collectMessages<Message = { type: string }>(socket: WebSocket): Message[] {
  const messages: Message[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(String(data)) as Message));
  return messages;
}

/** Waits until the number of open streams of GraphQL satisfies the condition. */
export async function untilStreams(
  app: Pick<App, 'metricsUrl'>,
  isReached: (count: number) => boolean,
): Promise<void> {
  await eventually(async () => isReached(await sampleOf(app, 'workgraph_streams', 'of="graphql"')));
}
