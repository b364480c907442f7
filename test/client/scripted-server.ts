import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server that is not workgraph: it answers as a test says. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** The requests that have arrived, in order. */
  readonly seen: readonly IncomingMessage[];
}

export async function startScriptedServer(answer: RequestListener): Promise<ScriptedServer> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // validated-fetch.ts checks only answers from 127.0.0.1, and openapi.json does not describe these.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
