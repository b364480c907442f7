import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { pieceBytes, type Unsent } from '../http/unsent.ts';
import { closeCodes } from './web-socket-close-codes.ts';
import type { WebSocketPauses } from './web-socket-pauses.ts';

/** Above this many bytes that the client has not read, the server stops reading its messages. */
const pausedAboveBytes = 1_048_576;

/**
 * Sends the messages of a connection. Long ones are sent in fragments, so that each one that the client reads is noticed as
 * progress, and a ping does not have to wait for the end of the message.
 */
export class WebSocketSender {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #unsent: Unsent;
  readonly #pauses: WebSocketPauses;
  /** Set while the client has too much to read: lets the server read its messages again. */
  #resume: (() => void) | undefined;
  /** The bytes of messages that have not been sent completely. */
  #bytes = 0;
  /** Resolves when the last message is sent; undefined if no message waits for one in fragments. */
  #line: Promise<void> | undefined;

  constructor(
    ws: WebSocket,
    socket: Socket,
    { unsent, pauses }: { unsent: Unsent; pauses: WebSocketPauses },
  ) {
    this.#ws = ws;
    this.#socket = socket;
    this.#unsent = unsent;
    this.#pauses = pauses;
  }

  /** Whether the client has not yet taken all messages. Pings and their answers do not count, because `Unsent` does not watch them. */
  get isSending(): boolean {
    return this.#bytes > 0;
  }

  /** Sends a message; resolves when the system has taken it, so that nothing more is read for a client that does not read. */
  async send(message: string | Uint8Array): Promise<void> {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#line || message.length > pieceBytes) return this.#sendInLine(bytesOf(message));
    const sent = this.#sent(message, true);
    if (this.#socket.writableLength > 0) return this.#hold(Buffer.byteLength(message), () => sent);
    return sent;
  }

  /** Closes the connection after the messages that are being sent. */
  close(code: number, reason: string): void {
    if (this.#line) void this.#line.then(() => this.#ws.close(code, reason));
    else this.#ws.close(code, reason);
  }

  /** Closes the connection because its token is refused. The messages that say so are sent in this turn of the event loop. */
  refuse(): void {
    setImmediate(() => this.close(closeCodes.forbidden, 'Forbidden'));
  }

  /** Sends a message when those before it are sent: nothing else may come between the fragments of one. */
  async #sendInLine(bytes: Uint8Array): Promise<void> {
    const before = this.#line;
    const line = this.#hold(bytes.length, async (took) => {
      await before;
      for (let start = 0; start < bytes.length; start += pieceBytes) {
        if (this.#ws.readyState !== this.#ws.OPEN) return;
        const piece = bytes.subarray(start, start + pieceBytes);
        await this.#sent(piece, start + pieceBytes >= bytes.length);
        took(piece.length);
      }
    });
    this.#line = line;
    await line;
    if (this.#line === line) this.#line = undefined;
  }

  #sent(part: string | Uint8Array, isLast: boolean): Promise<void> {
    return new Promise((resolve) => this.#ws.send(part, { binary: false, fin: isLast }, () => resolve()));
  }

  async #hold(bytes: number, send: (took: (bytes: number) => void) => Promise<void>): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes > pausedAboveBytes) this.#resume ??= this.#pauses.begin();
    await this.#unsent.holding(this.#socket, bytes, send);
    this.#bytes -= bytes;
    if (this.#bytes > pausedAboveBytes) return;
    this.#resume?.();
    this.#resume = undefined;
  }
}

function bytesOf(message: string | Uint8Array): Uint8Array {
  return typeof message === 'string' ? Buffer.from(message) : message;
}
