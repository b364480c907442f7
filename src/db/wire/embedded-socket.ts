import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';

/**
 * A stream to the embedded engine that pg uses as if it were a socket. Messages that are written together, such as
 * those of a statement and its values, reach the engine in one call.
 */
export class EmbeddedSocket extends Duplex {
  readonly #pglite: PGlite;
  readonly #take: (bytes: Buffer) => void;

  /** `take` is called with the bytes that the engine answers. They are valid only during the call. */
  constructor(pglite: PGlite, take?: (bytes: Buffer) => void) {
    super();
    this.#pglite = pglite;
    this.#take = take ?? ((bytes) => void this.push(Buffer.from(bytes)));
  }

  /** Called by pg, which waits for the event. There is nothing to connect to. */
  connect(): void {
    process.nextTick(() => this.emit('connect'));
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    void this.#run(bytes, done);
  }

  async #run(bytes: Buffer, done: (error: Error | null) => void): Promise<void> {
    // The engine throws only if it breaks down: errors of statements are part of its answers.
    let failure: Error | null = null;
    try {
      await this.#pglite.execProtocolRawStream(bytes, {
        onRawData: ({ buffer, byteOffset, length }) =>
          this.#take(Buffer.from(buffer as ArrayBuffer, byteOffset, length)),
      });
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    done(failure);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'buffer', done);
  }

  override _read(): void {
    // The engine pushes its answers.
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  // pg calls these on a socket.
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}
}
