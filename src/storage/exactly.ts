import { StorageUnavailableError } from './storage.ts';

/**
 * Passes on the bytes of an object. Fails if the store has more or fewer than `count`: the client of an answer that has announced them
 * would take the next answer of the connection for the rest of the file, or the rest for an answer. The stream is closed at the first
 * byte too many, so that a store that sends without end does not fill the memory.
 */
export async function* exactly(count: number, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = count;
  let last: Buffer | undefined;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0)
      throw new StorageUnavailableError(`The store has more than the ${count} bytes that were asked for.`);
    if (left > 0) yield chunk;
    else last = chunk;
  }
  if (left > 0)
    throw new StorageUnavailableError(`The store lacks ${left} of the ${count} bytes that were asked for.`);
  // A client that has all bytes may leave, so nothing may remain to be waited for after them.
  if (last) yield last;
}
