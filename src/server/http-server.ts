import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as SocketServer, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { maxHeadBytes } from '../executor/limits.ts';
import type { Front } from './front.ts';
import { asksForWebSocket, type WebSockets } from './graphql/web-socket.ts';
import { answerBrokenRequest, answerConnect } from './http/broken-request.ts';
import { Connections } from './http/client-connections.ts';
import { type Address, listenOn, stopAccepting, urlOf } from './http/listening.ts';
import type { WorkerLink } from './workers/worker-link.ts';

/** How long a connection may be silent while a request is answered: far longer than a request may take. */
const silenceMs = 120_000;

/** Longer than load balancers keep an idle connection, because this end must not be the first to close it. */
const keepAliveMs = 65_000;

interface HttpServerOptions {
  readonly front: Front;
  readonly webSockets: WebSockets;
  readonly publicUrl: string | undefined;
  /** How long a client may take to send the headers of a request. */
  readonly clientMs: number;
}

/** The server of Node, which passes requests to the front, with its sockets and connections. */
export class HttpServer {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #webSockets: WebSockets;
  /** The other sockets that listen for it. */
  #additionalSockets: readonly SocketServer[] = [];

  constructor({ front, webSockets, publicUrl, clientMs }: HttpServerOptions) {
    const handle = (req: IncomingMessage, res: ServerResponse) => front.handle(req, res);
    const server = createServer(
      {
        // Bodies have their own time limit where they are read, because a large file takes longer.
        requestTimeout: 0,
        headersTimeout: clientMs,
        maxHeaderSize: maxHeadBytes,
        connectionsCheckingInterval: Math.ceil(clientMs / 10),
        keepAliveTimeout: keepAliveMs,
        // The front refuses such a request, in the form of all refusals.
        requireHostHeader: false,
        shouldUpgradeCallback: asksForWebSocket,
      },
      handle,
    );
    this.#server = server;
    this.#webSockets = webSockets;
    this.#connections = new Connections(server);
    server.timeout = silenceMs;
    // The front asks for the body only after it has authenticated the client.
    server.on('checkContinue', handle);
    // Other expectations may be ignored (RFC 9110, 10.1.1).
    server.on('checkExpectation', handle);
    server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) =>
      webSockets.upgrade(req, socket, head),
    );
    server.on('connect', (_req, socket) => answerConnect(socket, publicUrl));
    server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, publicUrl));
  }

  /** Throws the error of `listen`, such as EADDRINUSE. */
  async listen(address: Address, link: WorkerLink | undefined): Promise<void> {
    this.#additionalSockets = await (link
      ? link.listen(this.#server, address.host)
      : listenOn(this.#server, address));
  }

  /** Its URL on this machine. */
  get url(): string {
    // A server that listens on TCP has an address of this type.
    const { address, port } = this.#server.address() as AddressInfo;
    return urlOf({ host: address, port });
  }

  /** Stops accepting connections after `drainMs`, and waits for requests in progress, `withinMs` at most. */
  async stop({
    drainMs,
    withinMs,
    isReplaced,
  }: {
    drainMs: number;
    withinMs: number;
    isReplaced: boolean;
  }): Promise<void> {
    const servers = [this.#server, ...this.#additionalSockets];
    const closed = Promise.all(servers.map((each) => once(each, 'close')));
    // Another worker has the same sockets. Clients of this one have the time to send one more request, whose answer closes
    // the connection.
    if (isReplaced) for (const each of servers) stopAccepting(each);
    await delay(drainMs);
    if (!isReplaced) for (const each of servers) stopAccepting(each);
    this.#connections.closeIdle();
    const closing = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#webSockets.terminate();
    }, withinMs);
    await closed;
    clearTimeout(closing);
    // Only this stops the timer with which Node looks for slow requests.
    this.#server.close();
  }
}
