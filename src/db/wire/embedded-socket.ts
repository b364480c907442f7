import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';

/**
 * The end of a connection to the embedded engine that pg takes for a socket. What is written together reaches the engine in one
 * call, as a statement and its values do.
 */
export class EmbeddedSocket extends Duplex {
  readonly #pglite: PGlite;
  readonly #take: (bytes: Buffer) => void;

  /** `take` gets what the engine answers. Its bytes are valid only during the call. */
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
    // Only a breakdown of the engine is an error here; errors of statements are among its answers.
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
    // The answers come whether they are asked for or not.
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
