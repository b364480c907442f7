import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ExecutionResult } from 'graphql';
import { type Context, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import type { Logger } from 'pino';
import { type WebSocket, type ServerOptions, WebSocketServer } from 'ws';
import { clientGone } from '../../db/engine/deadline.ts';
import { InvalidTokenError } from '../../executor/answers/challenge.ts';
import { isServerError } from '../../executor/answers/errors.ts';
import { maxBodyBytes } from '../../executor/limits.ts';
import type { OpenStreams } from '../../live/open-streams.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { AppError } from '../../resolvers/errors.ts';
import type { Callers } from '../callers.ts';
import type { Contexts } from '../context.ts';
import { logRequest } from '../observability/request-log.ts';
import { answerAndClose } from '../http/answer-and-close.ts';
import type { Clients } from '../http/clients.ts';
import type { CrossOrigin } from '../http/cross-origin.ts';
import { httpViolation } from '../http/http-rules.ts';
import type { ServerRequest } from '../http/request.ts';
import type { UnfinishedBodies } from '../http/unfinished-bodies.ts';
import type { Unsent } from '../http/unsent.ts';
import { type Admission, AdmissionTicket, busy } from '../limits/admission.ts';
import { withDeadline } from '../limits/with-deadline.ts';
import { withRequestLimits } from '../limits/request-limits.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { GraphQLHandler } from './graphql.ts';
import { AnswersInMessages } from './answers-in-messages.ts';
import { errorOf, errorsIn, executionOf, graphQLError, jsonOf, statusOf } from './web-socket-answers.ts';
import { closeCodes, closeReason } from './web-socket-close-codes.ts';
import { receiveMessages } from './web-socket-messages.ts';
import { WebSocketPauses } from './web-socket-pauses.ts';
import { pingRegularly } from './web-socket-pings.ts';
import { WebSocketRefusals } from './web-socket-refusals.ts';
import { postOf } from './web-socket-request.ts';
import { WebSocketSender } from './web-socket-sender.ts';
import { answersOf } from './web-socket-streams.ts';
import { limitUnfinished } from './web-socket-unfinished.ts';

// GraphQL over WebSocket, with the subprotocol graphql-transport-ws. Each operation is the POST that it would be over HTTP, with
// the same admission, limits, price and quotas; its answer, or the events of its stream, become messages.

/** How long a client may take to name its token. */
const signInMs = 3_000;

interface WebSocketOptions {
  readonly admission: Admission;
  readonly callers: Callers;
  readonly contexts: Contexts;
  readonly graphql: GraphQLHandler;
  readonly clients: Clients;
  readonly crossOrigin: CrossOrigin;
  readonly unsent: Unsent;
  readonly unfinishedBodies: UnfinishedBodies;
  readonly openStreams: OpenStreams;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly clientMs: number;
}

/** An operation that has no answer yet; a stream has one when it begins. */
interface OpenOperation {
  readonly ticket: AdmissionTicket;
  /** Whether the client has completed it, or closed the connection. */
  readonly hasLeft: () => boolean;
}

/** A connection, and what belongs to it until it is closed. */
interface OpenSocket {
  readonly ws: WebSocket;
  readonly sender: WebSocketSender;
  readonly answers: AnswersInMessages;
  readonly req: IncomingMessage;
  readonly unanswered: Set<OpenOperation>;
  authorization: string | undefined;
  workspaceId: string | undefined;
  leave: (() => void) | undefined;
  /** How long the next message has to wait. */
  delayMs: number;
}

/** Whether a request asks for a WebSocket at `/graphql`. The header `Upgrade` of any other request is ignored. */
export function asksForWebSocket({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return /^websocket$/i.test(headers.upgrade ?? '') && /^\/graphql(\?|$)/.test(url);
}

/** Whether the library rejected a message that only servers send. */
function isUnexpected(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type');
}

/** A client that does not answer the close frame within `closeTimeout` (which the types lack) loses its connection. */
const socketOptions: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: maxBodyBytes,
  closeTimeout: 3_000,
  handleProtocols: (protocols) => handleProtocols(protocols),
};

/** Aborts the operations whose answers the client no longer waits for. Those that are queued leave the queue. */
function abortAbandoned({ unanswered }: OpenSocket): void {
  for (const { ticket, hasLeft } of unanswered) if (hasLeft()) ticket.deadline.abort();
}

export class WebSockets {
  readonly #options: WebSocketOptions;
  readonly #sockets = new Set<OpenSocket>();
  readonly #server = new WebSocketServer(socketOptions);
  readonly #protocol;
  readonly #refusals: WebSocketRefusals;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#refusals = new WebSocketRefusals(options);
    this.#protocol = makeServer<Record<string, unknown>, OpenSocket>({
      connectionInitWaitTimeout: signInMs,
      onConnect: (context) => this.#signIn(context),
      onSubscribe: (context, id, payload) => this.#begin(context, id, payload),
      subscribe: ({ contextValue }) => contextValue as ExecutionResult | AsyncGenerator<ExecutionResult>,
      onNext: (_context, _id, _payload, _args, result) => result,
    });
    // The library would answer without security headers.
    this.#server.on('wsClientError', (_error, socket, req) =>
      answerAndClose(socket, { status: '400 Bad Request', origin: options.clients.of(req).origin }),
    );
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** Answers a request for which `asksForWebSocket` is true. */
  upgrade(req: IncomingMessage, socket: Socket, head: Buffer): void {
    const { contexts, crossOrigin, clients } = this.#options;
    const { origin } = clients.of(req);
    const refuse = (status: string) => answerAndClose(socket, { status, origin });
    socket.on('error', () => socket.destroy());
    if (httpViolation(req)) return refuse('400 Bad Request');
    if (contexts.draining) return refuse('503 Service Unavailable');
    if (!crossOrigin.opensSocket(req.headers.origin, origin)) return refuse('403 Forbidden');
    this.#server.handleUpgrade(req, socket, head, (ws) => this.#opened(ws, req));
  }

  /** Closes all connections, spread over the time, so that their clients reconnect to another server. */
  close(overMs: number): void {
    for (const { sender } of this.#sockets) {
      setTimeout(() => sender.close(closeCodes.goingAway, 'Going away'), Math.random() * overMs);
    }
  }

  /** Closes what is still open. */
  terminate(): void {
    for (const { ws } of this.#sockets) ws.terminate();
  }

  #opened(ws: WebSocket, req: IncomingMessage): void {
    const pauses = new WebSocketPauses(ws);
    const sender = new WebSocketSender(ws, req.socket, { unsent: this.#options.unsent, pauses });
    const socket: OpenSocket = {
      ws,
      sender,
      answers: new AnswersInMessages(),
      req,
      unanswered: new Set(),
      authorization: undefined,
      workspaceId: undefined,
      leave: undefined,
      delayMs: 0,
    };
    this.#sockets.add(socket);
    const closed = this.#protocol.opened(
      {
        protocol: ws.protocol,
        send: (message) => sender.send(socket.answers.complete(message)),
        close: (code, reason) => ws.close(code, closeReason(reason ?? '')),
        onMessage: (take) => {
          // The library also accepts messages that are parsed already, which its types do not say.
          const taken = (message: unknown) =>
            take(message as string).catch((error: unknown) => {
              if (isUnexpected(error)) return ws.close(closeCodes.badRequest, 'Invalid message received');
              this.#options.logger.error({ err: error }, 'a message of a WebSocket failed');
              ws.close(closeCodes.internalServerError, 'Internal server error');
            });
          receiveMessages(ws, {
            take: taken,
            // The library has handled a `complete` by then, because it does so before it waits for anything.
            onTaken: () => abortAbandoned(socket),
            takeRefusalDelayMs: () => {
              const { delayMs } = socket;
              socket.delayMs = 0;
              return delayMs;
            },
            inTurn: (bytes, parse) => this.#inTurn(socket, bytes, parse),
            pause: () => pauses.begin(),
          });
        },
      },
      socket,
    );
    limitUnfinished(ws, req.socket, {
      unfinishedBodies: this.#options.unfinishedBodies,
      workspaceId: () => socket.workspaceId,
      refuse: () => {
        pauses.begin();
        ws.close(closeCodes.unauthorized, 'Unauthorized');
      },
    });
    const stopPings = pingRegularly(ws, sender);
    // After a violation of the protocol, the library closes the connection with the code for it.
    ws.on('error', () => undefined);
    ws.on('close', (code, reason) => {
      stopPings();
      this.#sockets.delete(socket);
      socket.leave?.();
      void closed(code, String(reason));
      abortAbandoned(socket);
    });
  }

  /** Waits for a turn in the queue of large bodies, and then calls `parse`, so that one large message does not follow another. */
  async #inTurn(socket: OpenSocket, bytes: number, parse: () => void): Promise<void> {
    const { admission } = this.#options;
    const ticket = new AdmissionTicket(admission, admission.newDeadline());
    const waiting = { ticket, hasLeft: () => socket.ws.readyState !== socket.ws.OPEN };
    socket.unanswered.add(waiting);
    try {
      await admission.turn(ticket.deadline, bytes, socket.workspaceId ?? '');
    } finally {
      socket.unanswered.delete(waiting);
    }
    try {
      parse();
    } finally {
      ticket.leave();
    }
  }

  /** Checks the token of `connection_init`. The connection counts as one of its streams. */
  async #signIn({
    extra,
    connectionParams = {},
  }: Context<Record<string, unknown>, OpenSocket>): Promise<boolean> {
    const { callers, contexts, openStreams } = this.#options;
    const authorization = connectionParams['Authorization'] ?? connectionParams['authorization'];
    if (typeof authorization !== 'string') return false;
    try {
      const { tokenId, workspaceId } = await callers.signIn(
        postOf(extra.req, { body: '', authorization }, this.#options),
        authorization,
      );
      if (extra.ws.readyState !== extra.ws.OPEN) return false;
      const uncount = openStreams.enter(tokenId);
      const unwatch = contexts.watchToken(authorization, () => extra.sender.refuse());
      extra.leave = () => {
        uncount();
        unwatch();
      };
      extra.authorization = authorization;
      extra.workspaceId = workspaceId;
      return true;
    } catch (error) {
      if (error instanceof InvalidTokenError || !(error instanceof AppError)) return false;
      if (error.code === 'unauthenticated') return false;
      extra.ws.close(closeCodes.tryAgainLater, 'Try again later');
      return true;
    }
  }

  /** Begins an operation. Returns its errors if it is refused, otherwise the arguments for the library to execute. */
  async #begin(context: Context<Record<string, unknown>, OpenSocket>, id: string, payload: SubscribePayload) {
    const socket = context.extra;
    const refused = this.#refusals.of(socket);
    if (refused) return [errorOf(refused, randomUUID())];
    const { query, operationName, variables } = payload;
    // The variables are passed on unchecked, because the library does not check them either.
    const body = JSON.stringify({ query, operationName, variables });
    const request = postOf(socket.req, { body, authorization: socket.authorization ?? '' }, this.#options);
    const startedMs = performance.now();
    const endSpan = this.#options.tracing?.begin(request);
    const end = (status: number) => {
      const { logger, metrics } = this.#options;
      const tookMs = performance.now() - startedMs;
      logRequest(logger, { requestId: request.requestId, over: 'websocket' }, request, status, tookMs);
      metrics?.count(request.labels, status, tookMs);
      endSpan?.(status);
    };
    const ticket = new AdmissionTicket(this.#options.admission, this.#options.admission.newDeadline());
    const unanswered = { ticket, hasLeft: () => !(id in context.subscriptions) };
    socket.unanswered.add(unanswered);
    try {
      const reply = await this.#answer(socket, unanswered, request);
      if (reply.events) return executionOf(answersOf(socket, reply.events, ticket, () => end(reply.status)));
      const json = jsonOf(reply.body);
      reply.onSent?.();
      end(unanswered.hasLeft() ? 499 : reply.status);
      if (reply.status === 200) return executionOf(socket.answers.valueOf(json));
      if (reply.status === 401) socket.sender.refuse();
      // `error` would be final for the client, although the server that it connects to next accepts the operation.
      if (reply.status === 503 && this.#options.contexts.draining)
        socket.sender.close(closeCodes.goingAway, 'Going away');
      return errorsIn(String(json)).map(graphQLError);
    } catch (error) {
      if (isServerError(error)) this.#options.contexts.report(request, error);
      end(unanswered.hasLeft() ? 499 : statusOf(error));
      return [errorOf(error, request.requestId)];
    } finally {
      socket.unanswered.delete(unanswered);
      request.release();
    }
  }

  /** The answer to the request, which waits for its admission. */
  #answer(
    socket: OpenSocket,
    { ticket, hasLeft }: OpenOperation,
    request: ServerRequest,
  ): Promise<HttpReply> {
    const { admission, graphql } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<HttpReply>();
    const gone = () => reject(new AppError('unavailable', clientGone));
    admission.enter(
      () => {
        if (socket.ws.readyState !== socket.ws.OPEN) {
          ticket.leave();
          return gone();
        }
        request.ticket = ticket;
        const { deadline } = ticket;
        withRequestLimits({ deadline, loggedRequest: request }, () =>
          withDeadline(graphql.handle(request), deadline),
        )
          .then(resolve, reject)
          .finally(() => ticket.leave());
      },
      () => (hasLeft() ? gone() : reject(new AppError('unavailable', busy))),
      ticket,
    );
    return promise;
  }
}
