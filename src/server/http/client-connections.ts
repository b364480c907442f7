import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The events with which Node hands over a request. */
const requestEvents = ['request', 'checkContinue', 'checkExpectation'];

/** What is known about an open connection. */
interface Connection {
  /** How many requests have not been answered completely. */
  unanswered: number;
  /** How many bytes had been read when the last answer was sent; 0 before the first request. */
  bytesRead: number;
}

/**
 * The open connections of a server, and which of them are idle. `http.Server.closeIdleConnections` is of no use when a server
 * stops: it keeps connections on which no request has come yet, which clients open in advance, and it cuts off answers that
 * have been written but not yet sent. Connections that became WebSockets are not included.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, { unanswered: 0, bytesRead: 0 });
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('upgrade', ({ socket }: IncomingMessage) => this.#open.delete(socket));
    for (const event of requestEvents)
      server.on(event, (req: IncomingMessage, res: ServerResponse) => this.#noteRequest(req, res));
  }

  /** Closes the connections that are idle now, and every other one as soon as it is idle. */
  closeIdle(): void {
    this.#isClosing = true;
    for (const [socket, connection] of this.#open) closeIfIdle(socket, connection);
  }

  #noteRequest({ socket }: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.unanswered += 1;
    res.once('close', () => {
      connection.unanswered -= 1;
      connection.bytesRead = socket.bytesRead;
      if (this.#isClosing) closeIfIdle(socket, connection);
    });
  }
}

/** A connection is idle if nothing has been received since its last answer. */
function closeIfIdle(socket: Socket, { unanswered, bytesRead }: Connection): void {
  if (unanswered === 0 && socket.bytesRead === bytesRead) socket.destroy();
}
