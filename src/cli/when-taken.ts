import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Resolves when a stream wants more, or is closed; rejects when the signal is aborted first. */
export async function whenTaken(stream: Writable, signal: AbortSignal): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return;
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  try {
    await Promise.race([
      once(stream, 'drain', { signal: either }),
      once(stream, 'close', { signal: either }),
    ]);
  } finally {
    // The other one listens no more.
    done.abort();
  }
}
