import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../config.ts';
import { urlOf } from '../http/listening.ts';
import { securityHeaders } from '../http/security-headers.ts';

/** Metrics that can be printed in the text format of Prometheus. */
interface Printable {
  print(): Promise<{ contentType: string; text: string }>;
  close(): void;
}

/** Serves `/metrics` on a separate address, which clients of the service need not reach. */
export interface MetricsServer {
  readonly url: string;
  close(): void;
}

/** Listens; throws the error of `listen`, such as EADDRINUSE. */
export async function serveMetrics(
  metrics: Printable,
  { host, port }: NonNullable<Config['metricsAddress']>,
): Promise<MetricsServer> {
  const server = createServer((req, res) => void answer(metrics, req, res));
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    metrics.close();
    throw error;
  });
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `${urlOf({ host, port: actualPort })}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
      metrics.close();
    },
  };
}

async function answer(metrics: Printable, req: IncomingMessage, res: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(securityHeaders(undefined))) res.setHeader(name, value);
  if (req.url?.split('?')[0] !== '/metrics' || (req.method !== 'GET' && req.method !== 'HEAD')) {
    res.writeHead(404, { 'Content-Type': 'text/plain' }).end('Metrics are at GET /metrics.\n');
    return;
  }
  const { contentType, text } = await metrics.print();
  res.writeHead(200, { 'Content-Type': contentType }).end(text);
}
