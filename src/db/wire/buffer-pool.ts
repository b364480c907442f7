const minLength = 4_096;
const maxLength = 1_048_576;
/** The maximum number of bytes of all free buffers together. */
const maxFreeBytes = 16_777_216;

/**
 * Buffers that are reused. Memory outside of V8's heap counts towards its next full collection, so a server that
 * allocated a new buffer for each answer would spend much of its time collecting garbage.
 */
class BufferPool {
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** A buffer of at least `bytes` bytes, which may hold old data. */
  take(bytes: number): Buffer {
    const size = Math.max(minLength, 2 ** Math.ceil(Math.log2(bytes)));
    if (size > maxLength) return Buffer.allocUnsafeSlow(bytes);
    const buffer = this.#free.get(size)?.pop();
    if (!buffer) return Buffer.allocUnsafeSlow(size);
    this.#freeBytes -= size;
    return buffer;
  }

  /** Returns a buffer that is no longer read. One that is never returned is garbage like any other object. */
  give(buffer: Buffer): void {
    const { length } = buffer;
    if (length > maxLength || length < minLength || this.#freeBytes + length > maxFreeBytes) return;
    const free = this.#free.get(length);
    if (free) free.push(buffer);
    else this.#free.set(length, [buffer]);
    this.#freeBytes += length;
  }
}

/** The pool of this process. */
export const bufferPool = new BufferPool();
