import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { OperationContext } from '../../executor/run/execute.ts';
import { snapshotHeader } from '../../executor/run/snapshot-header.ts';
import { bodyTooLargeMessage, maxBodyBytes } from '../../executor/limits.ts';
import type { EarlierAnswer } from '../../executor/answers/revalidation.ts';
import type { EventChunk, EventStream, StreamSource } from '../../rest-compat/event-chunks.ts';
import type { RestRequest } from '../../rest-compat/rest-handler.ts';
import { requireSignedIn } from '../../resolvers/context.ts';
import type { WalPosition } from '../../db/engine/wal-position.ts';
import type { SeenVersion } from '../../reference/memory.ts';
import type { AdmissionTicket } from '../limits/admission.ts';
import type { UnreadBody } from './read-body.ts';
import type { Clients } from './clients.ts';
import type { Contexts } from '../context.ts';
import { mediaTypeNegotiator } from './negotiation.ts';
import type { RequestLabels } from '../observability/metrics.ts';
import { type Allowance, callerOfAddress } from '../limits/rate-limit.ts';
import { type Trace, traceOf } from '../observability/trace.ts';
import { hasAnswer } from './representation.ts';
import { consistencyHeader, parseConsistency, printConsistency } from './consistency-header.ts';
import { laterVersion, parseVersion, printVersion, versionHeader } from './version-header.ts';

/** Node has the names of headers in lower case. */
const snapshotField = snapshotHeader.toLowerCase();

const acceptedStreams = mediaTypeNegotiator(['application/json', 'text/event-stream']);
const acceptedTables = mediaTypeNegotiator(['application/json', 'text/csv']);

/** Parsing a body of this size as JSON takes a millisecond or two, and one of the maximum size up to a tenth of a second. */
const smallBodyBytes = 16_384;

/** The maximum size of a body in a request without a token. The few public operations need only a few lines. */
const maxVisitorBodyBytes = 65_536;
const visitorBodySizes = {
  maxBytes: maxVisitorBodyBytes,
  sizeRule: `The body is larger than ${maxVisitorBodyBytes.toLocaleString('en')} bytes, the most without a token.`,
};
const bodySizes = { maxBytes: maxBodyBytes, sizeRule: bodyTooLargeMessage };

/** A request, as the handlers see it. */
export class ServerRequest implements RestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  trace: Trace | undefined;
  /** Runs an operation in a span of its own, if the request is traced. */
  traced: OperationContext['traced'];
  /** How long the client may send nothing. */
  readonly clientMs: number;
  readonly origin: string;
  readonly host: string | undefined;
  readonly address: string | undefined;
  readonly seenVersion: SeenVersion | undefined;
  readonly seenPosition: WalPosition | undefined;
  readonly snapshot: string | undefined;
  /** Whether the request may have written something. */
  hasWritten = false;
  allowance?: Allowance;
  cause?: string;
  /** The admission ticket; undefined for requests that do not pass through admission. */
  ticket: AdmissionTicket | undefined;
  labels: RequestLabels = { face: 'other', route: 'other', operation: 'other' };
  /** Whether it is answered with a stream, which the client ends when it likes. */
  isStream = false;
  /** The name of the operation, for the log line. */
  operationName: string | undefined;
  readonly #unread: UnreadBody;
  readonly #contexts: Contexts;
  readonly #search: string;
  #query: URLSearchParams | undefined;
  #body: Promise<Buffer> | undefined;
  #context: Promise<OperationContext> | undefined;
  /** The reference data of the context, when the request has been authenticated. */
  #reference: OperationContext['reference'];
  #workspaceId: string | undefined;

  constructor(
    req: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>,
    body: UnreadBody,
    contexts: Contexts,
    { clients, clientMs }: { clients: Clients; clientMs: number },
  ) {
    const { path, search } = splitTarget(req.url ?? '/');
    this.method = req.method ?? 'GET';
    this.path = path;
    this.#search = search;
    this.headers = req.headers;
    this.requestId = requestIdOf(req.headers['x-request-id']);
    const { origin, host, address } = clients.of(req);
    this.origin = origin;
    this.host = host;
    this.address = address;
    this.trace = traceOf(req.headers.traceparent);
    const consistency = parseConsistency(req.headers[consistencyHeader]);
    this.seenVersion = laterVersion(consistency.version, parseVersion(req.headers[versionHeader]));
    this.seenPosition = consistency.position;
    this.snapshot = req.headers[snapshotField]?.toString();
    this.clientMs = clientMs;
    this.#unread = body;
    this.#contexts = contexts;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search);
    return this.#query;
  }

  /** Reads the body. It is not read for requests that are refused before. A large one waits until it may be parsed. */
  body(): Promise<Buffer> {
    this.#body ??= this.#read();
    return this.#body;
  }

  /** The size of the body in bytes. If the client does not send it, the largest size that is allowed. */
  get bodyBytes(): number {
    const length = this.headers['content-length'];
    if (length !== undefined) return Number(length);
    return this.headers['transfer-encoding'] === undefined ? 0 : maxBodyBytes;
  }

  get prefersCsv(): boolean {
    return acceptedTables(this.headers.accept)[0] === 'text/csv';
  }

  hasAnswer(answer: EarlierAnswer): boolean {
    return hasAnswer(this, answer);
  }

  get prefersEvents(): boolean {
    const isRead = this.method === 'GET' || this.method === 'HEAD';
    return isRead && acceptedStreams(this.headers.accept)[0] === 'text/event-stream';
  }

  /** The first chunk of a stream. Streams with an equal `inputKey` share it. */
  async firstChunk(inputKey: string, read: () => Promise<EventChunk>): Promise<EventChunk> {
    const { principal } = requireSignedIn(await this.context());
    const shared = await this.#contexts.firstChunk(principal, inputKey, read);
    return shared.isUnshareable ? read() : shared;
  }

  async stream(source: StreamSource<OperationContext>): Promise<EventStream> {
    const { principal } = requireSignedIn(await this.context());
    const events = this.#contexts.stream(this, this.headers.authorization, principal, source);
    this.isStream = true;
    return events;
  }

  context(): Promise<OperationContext> {
    this.#context ??= this.#authenticated();
    return this.#context;
  }

  async #authenticated(): Promise<OperationContext> {
    const context = await this.#contexts.authenticatedContext(this, this.headers.authorization);
    this.#reference = context.reference;
    this.#workspaceId = context.principal?.workspaceId;
    return context;
  }

  /** Waits for a turn of its own, so that long work is not done for several requests in a row. */
  async documentTurn(bytes: number): Promise<void> {
    const workspaceId = this.#workspaceId;
    if (workspaceId !== undefined) await this.ticket?.turn(bytes, workspaceId);
    else await this.ticket?.turn(bytes, callerOfAddress(this.address), 'visitors');
  }

  async takeWorkspacePlace(): Promise<void> {
    const { principal } = await this.context();
    if (principal) await this.ticket?.join(() => this.#contexts.shareOf(principal.workspaceId));
  }

  whileSuspended<Result>(wait: Promise<Result>): Promise<Result> {
    return this.ticket ? this.ticket.whileSuspended(wait) : wait;
  }

  check(): void {
    this.ticket?.deadline.check();
  }

  onDisconnect(listener: () => void): () => void {
    return this.ticket?.deadline.onDisconnect(listener) ?? (() => undefined);
  }

  publicContext(): Promise<OperationContext> {
    return this.#contexts.publicContext(this);
  }

  uncountedContext(): OperationContext {
    return this.#contexts.uncountedContext(this);
  }

  /** The handle of the workspace that a signed URL names. */
  dataOf(workspaceId: string): TenantDb {
    return this.#contexts.dataOf(workspaceId);
  }

  /** Notes a write that needed no token. The answer then says what its client has to have read. */
  noteWriteTo(workspaceId: string): void {
    this.hasWritten = true;
    this.#reference = this.#contexts.referenceOf(workspaceId, this.seenVersion);
  }

  /**
   * The headers with the version of the reference data and, where there are replicas, the position of the primary after the
   * client's last write; no headers without a token, except after a write.
   */
  async consistencyHeaders(): Promise<Record<string, string>> {
    try {
      const current = this.#reference?.current();
      const snapshot = current instanceof Promise ? await current : current;
      if (!snapshot) return {};
      const position = this.hasWritten ? await this.#contexts.position() : this.seenPosition;
      return {
        [versionHeader]: printVersion(snapshot.version),
        [consistencyHeader]: printConsistency(snapshot.version, position),
      };
    } catch {
      return {};
    }
  }

  async #read(): Promise<Buffer> {
    const { isWhole } = this.#unread;
    const isSmall = this.bodyBytes <= maxVisitorBodyBytes;
    const sizes = isSmall || (await this.context()).principal ? bodySizes : visitorBodySizes;
    const read = this.#unread.read({
      withinMs: this.clientMs,
      ...sizes,
      workspaceId: this.#workspaceId,
    });
    const bytes = await (isWhole ? read : this.whileSuspended(read));
    if (bytes.length > smallBodyBytes) await this.documentTurn(bytes.length);
    // The token may have been revoked while the client sent the body.
    if (!isWhole) await this.#reauthenticate();
    return bytes;
  }

  async #reauthenticate(): Promise<void> {
    if (!this.#context) return;
    const { principal } = await this.#context;
    if (principal) await this.#contexts.reauthenticate(this.headers.authorization);
  }

  /** Drops everything that was needed only to create the answer, because the client may take a long time to read it. */
  release(): void {
    this.#body = undefined;
    this.#context = undefined;
    this.#reference = undefined;
  }

  noteOperation(operationName: string, route?: string): void {
    this.operationName = operationName;
    if (route !== undefined) this.labels = { face: 'rest', route, operation: operationName };
  }
}

/** The request id of a proxy, if it is suitable for a header and a log line. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:/=+-]{1,128}$/.test(header) ? header : randomUUID();
}

/** Without `new URL`, which would resolve dots and read `//x` as a host. */
function splitTarget(target: string): { path: string; search: string } {
  const relative = target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = relative.indexOf('?');
  const path = mark < 0 ? relative : relative.slice(0, mark);
  return { path: path || '/', search: mark < 0 ? '' : relative.slice(mark + 1) };
}
