import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type ListenOptions, Server as SocketServer } from 'node:net';

/** How many sockets listen. Per turn of the event loop, which is long in an overload, Node accepts one connection of each. */
const sockets = 8;

/** How many connections may wait to be accepted. Clients beyond that try again seconds later. */
const backlog = 4_096;

/** The host and port of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Listens on several sockets of one port, to which the system distributes new connections. Uses one socket if the system chooses
 * the port or does not support sharing. Returns the additional sockets. Throws the error of `listen`, such as EADDRINUSE.
 */
export async function listenOn(server: Server, address: Address): Promise<SocketServer[]> {
  if (address.port === 0 || process.platform !== 'linux') {
    await listening(server, address);
    return [];
  }
  // Sockets that share a port would also share it with another process, so first one listens without sharing.
  const alone = createServer();
  await listening(alone, address);
  alone.close();
  return listenBeside(server, address);
}

/** The same on a port that other processes of this service may use as well. */
export async function listenBeside(server: Server, address: Address): Promise<SocketServer[]> {
  const beside = Array.from({ length: sockets - 1 }, () => shareConnections(server));
  const all = [server, ...beside];
  await Promise.all(all.map((each) => listening(each, { ...address, reusePort: true }))).catch(
    (error: unknown) => {
      // Another process took the port in between. Sockets that listen already would keep this process alive.
      for (const each of all) each.close();
      throw error;
    },
  );
  return beside;
}

/** A socket whose connections a server takes. */
export function shareConnections(server: Server): SocketServer {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
}

/** Takes a socket over that listens already. */
export function adopt<Taker extends SocketServer>(server: Taker, socket: SocketServer): Taker {
  server.listen(socket, backlog);
  return server;
}

/**
 * Accepts no more connections, and leaves those that are open. The method of `http.Server` closes those that have no request, among
 * them such as were just opened and will send one.
 */
export function stopAccepting(server: SocketServer): void {
  SocketServer.prototype.close.call(server);
}

async function listening(server: SocketServer, options: ListenOptions): Promise<void> {
  server.listen({ ...options, backlog });
  await once(server, 'listening');
}
