import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type ListenOptions, type Server as SocketServer } from 'node:net';

/** Node takes over one connection of each socket in a turn of its event loop, which in an overload lasts long. */
const sockets = 8;

/** Connections that may wait to be accepted: where more come, the client's system tries again seconds later. */
const backlog = 4_096;

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Listens on several sockets of one port, among which the system divides those who connect; on one where the system
 * chooses the port, or knows no such thing. Gives the sockets beside the server's own; throws the error of `listen`,
 * such as EADDRINUSE.
 */
export async function listenOn(server: Server, address: Address): Promise<SocketServer[]> {
  if (address.port === 0 || process.platform !== 'linux') {
    await listening(server, address);
    return [];
  }
  // Sockets that share a port share it with those of another process too: that there is none is tried alone.
  const alone = createServer();
  await listening(alone, address);
  alone.close();
  const beside = Array.from({ length: sockets - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  );
  const all = [server, ...beside];
  await Promise.all(all.map((each) => listening(each, { ...address, reusePort: true }))).catch(
    (error: unknown) => {
      // Somebody came in between; what listens already would keep the process alive.
      for (const each of all) each.close();
      throw error;
    },
  );
  return beside;
}

async function listening(server: SocketServer, options: ListenOptions): Promise<void> {
  server.listen({ ...options, backlog });
  await once(server, 'listening');
}
