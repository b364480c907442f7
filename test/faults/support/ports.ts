import { once } from 'node:events';
import { createServer } from 'node:net';

// A port that the system chose would be free only until the system gives it to somebody else, such as a connection of another test.
// Those are from 32768 upwards, so these are below, and each worker of jest has its own.
const first = 12_000 + 1_000 * (Number(process.env.JEST_WORKER_ID ?? 0) % 20);
const perWorker = 1_000;
// Two runs at once have workers of the same number.
let next = (process.pid * 37) % perWorker;

/** Returns a port on which nothing listens, and which no other test is given. */
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
