import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What the proxy does with a request: passes it on, loses its answer, or refuses it. */
type Fault = 'none' | 'lost' | { readonly status: number; readonly headers?: Record<string, string> };

/** An HTTP proxy that applies the next of `faults` to each request, and passes requests on when none is left. */
export interface FaultyProxy {
  readonly url: string;
  /** The requests that have arrived, such as `POST /graphql`, with their Idempotency-Keys. */
  readonly seen: { request: string; key: string | undefined }[];
  faults: Fault[];
  stop(): Promise<void>;
}

export async function startFaultyProxy(to: string): Promise<FaultyProxy> {
  const seen: FaultyProxy['seen'] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    seen.push({ request: `${method} ${url}`, key: headers['idempotency-key']?.toString() });
    const fault = proxy.faults.shift() ?? 'none';
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end('<h1>Come back later</h1>');
      return;
    }
    const body = await buffer(request);
    const forwarded = await fetch(`${to}${url}`, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        ['host', 'connection', 'content-length'].includes(name) ? [] : [[name, String(value)]],
      ),
      ...(body.length > 0 && { body }),
    });
    const bytes = Buffer.from(await forwarded.arrayBuffer());
    if (fault === 'lost') {
      request.socket.destroy();
      return;
    }
    const sent = [...forwarded.headers].filter(
      ([name]) => !/^(?:content-(?:encoding|length)|transfer-|connection)/.test(name),
    );
    response.writeHead(forwarded.status, Object.fromEntries(sent)).end(bytes);
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FaultyProxy = {
    // validated-fetch.ts checks only answers from 127.0.0.1, and openapi.json does not describe those of the proxy.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    faults: [],
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
