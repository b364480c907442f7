import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { WorkerProcess } from '../../src/server/workers/worker-process.ts';
import { freePort } from '../support/ports.ts';

const script = join(import.meta.dirname, '../support/light-worker-process.ts');

it('a connection is closed that a worker does not get because it hangs or has ended', async () => {
  let hangs = 0;
  using cleanup = new DisposableStack();
  const worker = new WorkerProcess({
    program: { script, args: [], env: process.env },
    start: { number: 1, workers: 1, port: await freePort(), isFirst: true },
    onMessage: () => undefined,
    onHang: () => {
      hangs += 1;
    },
  });
  cleanup.defer(() => worker.kill());
  await worker.prepared;
  const acceptor = createServer({ pauseOnConnect: true });
  cleanup.defer(() => acceptor.close());
  await once(acceptor.listen(0, '127.0.0.1'), 'listening');
  const { port } = acceptor.address() as AddressInfo;
  const sendConnection = async (): Promise<Socket> => {
    const client = connect(port, '127.0.0.1');
    const [[connection]] = await Promise.all([once(acceptor, 'connection'), once(client, 'connect')]);
    // This fills the queue of messages again: the operating system may have taken some of the earlier ones.
    for (let sent = 0; sent < 50_000; sent += 1) worker.send({ kind: 'gap' });
    worker.send({ kind: 'connection' }, connection as Socket);
    return client.resume();
  };
  process.kill(worker.pid ?? 0, 'SIGSTOP');
  await once(await sendConnection(), 'close');
  expect(hangs).toBeGreaterThan(0);
  worker.kill();
  expect((await worker.exited).signal).toBe('SIGKILL');
  await once(await sendConnection(), 'close');
  // The server closes only if no connection is left.
  acceptor.close();
  await once(acceptor, 'close');
});
