import type { IncomingMessage } from 'node:http';
import type { Contexts } from '../context.ts';
import type { Clients } from '../http/clients.ts';
import { ServerRequest } from '../http/request.ts';

/** An operation that came over a WebSocket, as the POST that it would be over HTTP. */
export function postOf(
  { headers: upgrade, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { body, authorization }: { body: string; authorization: string },
  { contexts, clients, clientMs }: { contexts: Contexts; clients: Clients; clientMs: number },
): ServerRequest {
  // The request id and the trace are those of the upgrade, and each operation is a request of its own.
  const { 'x-request-id': _id, traceparent: _trace, ...headers } = upgrade;
  const bytes = Buffer.from(body);
  const request = new ServerRequest(
    {
      method: 'POST',
      url: '/graphql',
      socket,
      headers: {
        ...headers,
        authorization,
        accept: 'application/graphql-response+json, text/event-stream',
        'content-type': 'application/json',
        'content-length': String(bytes.length),
      },
    },
    { isWhole: true, read: () => Promise.resolve(bytes) },
    contexts,
    { clients, clientMs },
  );
  // It counts as GraphQL even if it is refused before the handler of GraphQL sees it.
  request.labels = { face: 'graphql', route: '/graphql', operation: 'other' };
  return request;
}
