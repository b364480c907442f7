import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { OperationContext } from '../../executor/execute.ts';
import { maxBodyBytes } from '../../executor/limits.ts';
import type { RestRequest } from '../../rest-compat/face.ts';
import type { SeenVersion } from '../../reference/memory.ts';
import type { AdmissionTicket } from '../limits/admission.ts';
import { isWhole, readBody } from './body.ts';
import type { Clients } from './clients.ts';
import type { Contexts } from '../context.ts';
import type { Served } from '../observability/metrics.ts';
import type { Allowance } from '../limits/rate-limit.ts';
import { type Trace, traceOf } from '../observability/trace.ts';
import { parseVersion, printVersion, versionHeader } from './version-header.ts';

/** A request that came in, as the faces see it. */
export class ServerRequest implements RestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  /** How long the client may be silent. */
  readonly clientMs: number;
  readonly origin: string;
  readonly host: string | undefined;
  readonly address: string | undefined;
  readonly seenVersion: SeenVersion | undefined;
  allowance?: Allowance;
  cause?: string;
  /** What it holds while it is worked on; undefined for what is always taken. */
  ticket: AdmissionTicket | undefined;
  served: Served = { face: 'other', route: 'other', operation: 'other' };
  /** For the log line. */
  operationName: string | undefined;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #contexts: Contexts;
  readonly #search: string;
  #query: URLSearchParams | undefined;
  #body: Promise<Buffer> | undefined;
  #context: Promise<OperationContext> | undefined;
  /** Of who asks, once that is known. */
  #reference: OperationContext['reference'];

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
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
    this.seenVersion = parseVersion(req.headers[versionHeader]);
    this.clientMs = clientMs;
    this.#req = req;
    this.#res = res;
    this.#contexts = contexts;
  }

  /** Read by those alone who are not refused before. */
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search);
    return this.#query;
  }

  body(): Promise<Buffer> {
    this.#body ??= this.#read();
    return this.#body;
  }

  /** The size of the body in bytes; of one whose length the client does not say, the most that it may have. */
  get bodyBytes(): number {
    const length = this.headers['content-length'];
    if (length !== undefined) return Number(length);
    return this.headers['transfer-encoding'] === undefined ? 0 : maxBodyBytes;
  }

  context(): Promise<OperationContext> {
    this.#context ??= this.#authenticated();
    return this.#context;
  }

  async #authenticated(): Promise<OperationContext> {
    const context = await this.#contexts.authenticated(this, this.headers.authorization);
    this.#reference = context.reference;
    return context;
  }

  visitor(): Promise<OperationContext> {
    return this.#contexts.visitor(this);
  }

  anonymous(): OperationContext {
    return this.#contexts.anonymous(this);
  }

  /** The handle of the workspace that a signed address names, for the bearer of the address. */
  dataOf(workspaceId: string): TenantDb {
    return this.#contexts.dataOf(workspaceId);
  }

  /** The header that says which reference data the answer knows; nothing where there is no token. */
  async versionHeaders(): Promise<Record<string, string>> {
    try {
      const current = this.#reference?.current();
      const known = current instanceof Promise ? await current : current;
      return known ? { [versionHeader]: printVersion(known.version) } : {};
    } catch {
      return {};
    }
  }

  #read(): Promise<Buffer> {
    const read = readBody(this.#req, this.#res, this.clientMs);
    return this.ticket && !isWhole(this.#req) ? this.ticket.outside(read) : read;
  }

  /** Lets go of what only the making of the answer needed: its client may take a long time to read it. */
  release(): void {
    this.#body = undefined;
    this.#context = undefined;
    this.#reference = undefined;
  }

  note(operationName: string, route?: string): void {
    this.operationName = operationName;
    if (route !== undefined) this.served = { face: 'rest', route, operation: operationName };
  }
}

/** Taken over from a proxy when it is fit for a header and a log line. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:/=+-]{1,128}$/.test(header) ? header : randomUUID();
}

/** By hand: `new URL` would resolve dots, and read `//x` as a host. */
function splitTarget(target: string): { path: string; search: string } {
  const relative = target.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = relative.indexOf('?');
  const path = mark < 0 ? relative : relative.slice(0, mark);
  return { path: path || '/', search: mark < 0 ? '' : relative.slice(mark + 1) };
}
