import type { Duplex } from 'node:stream';

/** How long a client may take to receive a last answer and to close its side of the connection. */
const lingerMs = 1_000;

/**
 * Sends the last answer of a connection that Node has handed over, and closes it, since no time limit of Node applies to it any
 * longer. What the client still sends is discarded until it closes its side, at most for a short time: a connection that is closed
 * before its data is read is reset, and then the client may lose the answer.
 */
export function answerAndClose(socket: Duplex, answer: string): void {
  const late = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(late));
  socket.end(answer);
  socket.resume();
}
