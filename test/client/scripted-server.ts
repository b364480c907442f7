import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server that is not workgraph: it answers as a test says. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** The requests that came, in order. */
  readonly seen: readonly IncomingMessage[];
}

export async function startScripted(answer: RequestListener): Promise<ScriptedServer> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // Not the address whose answers test/support/validated-fetch.ts compares with openapi.json.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
