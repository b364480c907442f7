import type { Duplex } from 'node:stream';
import { securityHeaders } from './security-headers.ts';

/** How long a client may take to receive a last answer and to close its side of the connection. */
const lingerMs = 1_000;

/** An answer that is written directly on a socket. */
interface SocketAnswer {
  /** The number and its phrase: `403 Forbidden`. */
  readonly status: string;
  readonly origin: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Sends the last answer of a connection that Node has handed over, and closes it, since no time limit of Node applies to it any
 * longer. What the client still sends is discarded until it closes its side, at most for a short time: a connection that is closed
 * before its data is read is reset, and then the client may lose the answer.
 */
export function answerAndClose(
  socket: Duplex,
  { status, origin, headers = {}, body = '' }: SocketAnswer,
): void {
  const length = { 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' };
  const entries = Object.entries({ ...securityHeaders(origin), ...headers, ...length });
  const head = entries.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n${body}`);
  socket.resume();
}
