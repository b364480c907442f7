import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts a collector of OpenTelemetry that accepts what it is sent and keeps nothing, and returns its URL. It does not keep the
 * process alive.
 */
export async function startCollector(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'));
  });
  server.on('connection', (socket) => socket.unref());
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
