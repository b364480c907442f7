import { StorageUnavailableError } from './storage.ts';

/**
 * Passes on the bytes of an object. Fails if the store has more or fewer than `count`: the client of an answer that has announced them
 * would take the next answer of the connection for the rest of the file, or the rest for an answer. The stream is closed at the first
 * byte too many, so that a store that sends without end does not fill the memory.
 */
export async function* withExactLength(count: number, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let remainingBytes = count;
  let lastChunk: Buffer | undefined;
  for await (const chunk of bytes) {
    remainingBytes -= chunk.length;
    if (remainingBytes < 0)
      throw new StorageUnavailableError(`The store has more than the ${count} bytes that were asked for.`);
    if (remainingBytes > 0) yield chunk;
    else lastChunk = chunk;
  }
  if (remainingBytes > 0)
    throw new StorageUnavailableError(
      `The store lacks ${remainingBytes} of the ${count} bytes that were asked for.`,
    );
  // A client that has all bytes may disconnect, so the last chunk is sent only when nothing else has to be awaited.
  if (lastChunk) yield lastChunk;
}
