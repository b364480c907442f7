import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Resolves when a stream's buffer has drained or the stream is closed; rejects if the signal is aborted first. */
export async function whenDrained(stream: Writable, signal: AbortSignal): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return;
  const done = new AbortController();
  const abortedOrDone = AbortSignal.any([signal, done.signal]);
  try {
    await Promise.race([
      once(stream, 'drain', { signal: abortedOrDone }),
      once(stream, 'close', { signal: abortedOrDone }),
    ]);
  } catch (error) {
    // `once` also rejects when the stream fails, as it does when its reader is gone. The stream then closes.
    if (signal.aborted) throw error;
  } finally {
    // Removes the listener of the event that did not happen.
    done.abort();
  }
}
