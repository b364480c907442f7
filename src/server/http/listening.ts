import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type ListenOptions, Server as SocketServer } from 'node:net';

/**
 * How many sockets listen. Per turn of the event loop Node accepts one connection of each. A turn is long when a thousand streams
 * begin or in an overload, and the probes of a load balancer wait in the same queues.
 */
const socketCount = 32;

/** How many connections may wait to be accepted. Clients beyond that try again seconds later. */
const backlog = 4_096;

/** The host and port of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The URL at which a server on this machine is reached. */
export function urlOf({ host, port }: Address): string {
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
}

/**
 * Listens on several sockets of one port, to which the system distributes new connections. Uses one socket if the system chooses
 * the port or does not support sharing. Returns the additional sockets. Throws the error of `listen`, such as EADDRINUSE.
 */
export async function listenOn(server: Server, address: Address): Promise<SocketServer[]> {
  if (address.port === 0 || process.platform !== 'linux') {
    await startListening(server, address);
    return [];
  }
  // Sockets that share a port would also share it with another process, so first one listens without sharing.
  const exclusive = createServer();
  await startListening(exclusive, address);
  exclusive.close();
  return listenShared(server, address);
}

/** The same on a port that other processes of this service may use as well. */
export async function listenShared(server: Server, address: Address): Promise<SocketServer[]> {
  const additional = Array.from({ length: socketCount - 1 }, () => shareConnections(server));
  const all = [server, ...additional];
  await Promise.all(all.map((socket) => startListening(socket, { ...address, reusePort: true }))).catch(
    (error: unknown) => {
      // Another process took the port in between. Sockets that listen already would keep this process alive.
      for (const socket of all) socket.close();
      throw error;
    },
  );
  return additional;
}

/** A socket whose connections a server takes. */
export function shareConnections(server: Server): SocketServer {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
}

/** Lets a server accept connections of a socket that listens already. */
export function adopt<Adopter extends SocketServer>(server: Adopter, socket: SocketServer): Adopter {
  server.listen(socket, backlog);
  return server;
}

/**
 * Accepts no more connections, and leaves those that are open. `http.Server.close` would also close idle connections, on which
 * the next request may be on its way.
 */
export function stopAccepting(server: SocketServer): void {
  SocketServer.prototype.close.call(server);
}

async function startListening(server: SocketServer, options: ListenOptions): Promise<void> {
  server.listen({ ...options, backlog });
  await once(server, 'listening');
}
