import { once } from 'node:events';
import { createServer } from 'node:net';

// If the system chose the port, it could assign it again before the test listens on it, for example to a connection of another test.
// The system assigns ports from 32768 upwards, so these are lower. Each worker of jest has a range of its own.
const first = 12_000 + 1_000 * (Number(process.env.JEST_WORKER_ID ?? 0) % 20);
const perWorker = 1_000;
// Workers of two concurrent runs have the same numbers, so they begin at different ports.
let next = (process.pid * 37) % perWorker;

/** Finds a port on which nothing listens, and which no other test gets. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + next;
    next = (next + 1) % perWorker;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
