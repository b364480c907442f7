import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy in front of a server. After `freeze`, existing connections remain open but pass nothing on; new ones work. */
export async function freezable(target: URL): Promise<{ url: string; freeze(): void; close(): void }> {
  const sockets: Socket[] = [];
  const frozen = new Set<Socket>();
  const pipe = (from: Socket, to: Socket) => {
    sockets.push(from);
    from.on('error', () => undefined);
    from.on('data', (data) => frozen.has(from) || to.write(data));
    from.on('close', () => to.destroy());
  };
  const proxy = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname);
    pipe(inner, outer);
    pipe(outer, inner);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    url: url.href,
    freeze: () => {
      for (const socket of sockets) frozen.add(socket);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
