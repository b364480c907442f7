import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a server, which a test can cut. */
export interface CutProxy {
  url: string;
  /** Closes all connections, and forwards later ones to this server. */
  redirect(to: string): void;
  stop(): Promise<void>;
}

/** Starts a proxy that passes bytes on to a server. */
export async function startProxy(to: string): Promise<CutProxy> {
  let target = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // Destroying one side of a connection causes an error on the other, which the test ignores.
      socket.on('error', () => undefined);
    }
    client.pipe(upstream).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    redirect: (newTarget) => {
      target = new URL(newTarget);
      cut();
    },
    stop: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
