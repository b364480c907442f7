import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy to Redis that can be cut, become silent with open connections, or forward new connections to another Redis. */
export interface RedisProxy {
  url: string;
  cut(): Promise<void>;
  silence(): void;
  restore(): Promise<void>;
  redirect(target: string): void;
  /** How many connections have been opened. */
  opened(): number;
}

export async function openRedisProxy(target: string): Promise<RedisProxy> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let silent = false;
  let opened = 0;
  const server = createServer((client) => {
    opened += 1;
    const redis = connect(Number(port || 6379), hostname);
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        redis.destroy();
      });
    }
    client.pipe(redis).pipe(client);
    if (silent) redis.unpipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: ownPort } = server.address() as AddressInfo;
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: `redis://127.0.0.1:${ownPort}`,
    cut,
    opened: () => opened,
    redirect: (other) => {
      ({ hostname, port } = new URL(other));
    },
    silence: () => {
      silent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore: async () => {
      silent = false;
      if (server.listening) return;
      server.listen(ownPort, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
