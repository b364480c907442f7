import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import type { ReadServer } from '../db/engine/replicas.ts';
import { unknownPosition, type WalPosition } from '../db/engine/wal-position.ts';
import type { ReadBounds } from '../db/query/read-bounds.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import { Loaders } from '../db/reads/loaders.ts';
import type { ExecutorName, OperationContext } from '../executor/run/execute.ts';
import type { EventChunk, EventStream, StreamSource } from '../rest-compat/event-chunks.ts';
import type { ReferenceMemory, SeenVersion } from '../reference/memory.ts';
import type { CachedReference, Principal, QuotaState, RateLimit } from '../resolvers/context.ts';
import { causeOf } from '../executor/answers/errors.ts';
import { maxInt32 } from '../model/int32.ts';
import type { WebhookSending } from '../resolvers/webhooks/sending.ts';
import type { Writes } from '../resolvers/writes/write-transaction.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import type { Callers, CountedRequest } from './callers.ts';
import type { Admission } from './limits/admission.ts';
import type { WorkspaceShares } from './limits/workspace-shares.ts';
import type { ServerFiles } from './open-files.ts';
import type { RecentWrites } from './recent-writes.ts';
import { stoppingMessage } from './stopping.ts';
import type { Trace } from './observability/trace.ts';
import type { ChangeWaits, StreamRights, WaitingRequest } from './change-waits.ts';

/** How long the readiness probe waits for the database. */
export const readinessTimeoutMs = 2_000;

/** What a context needs from its request. */
export interface RequestSource extends WaitingRequest, CountedRequest {
  /** Waits for a turn of its own, so that long work is not done for several requests in a row. */
  documentTurn(bytes: number): Promise<void>;
  readonly requestId: string;
  readonly trace?: Trace | undefined;
  readonly traced?: OperationContext['traced'];
  readonly origin: string;
  /** The version of the reference data that the client has seen, as the client sent it. */
  readonly seenVersion: SeenVersion | undefined;
  /** The position of its last write, as the client sent it. */
  readonly seenPosition?: WalPosition | undefined;
  /** The header X-Workgraph-Snapshot, as the client sent it. */
  readonly snapshot?: string | undefined;
  /** Set once the request may have written something. */
  hasWritten?: boolean;
  /** Why the service failed to carry out the request, for the log line. */
  cause?: string;
}

const unlimitedQuota: QuotaState = { limit: maxInt32, remaining: maxInt32, resetUtc: new Date(0) };
const unlimited: RateLimit = { requests: unlimitedQuota, cost: unlimitedQuota };

/** What contexts are made of. */
interface ContextParts {
  readonly database: Database;
  readonly logger: Logger;
  readonly callers: Callers;
  readonly files: ServerFiles | undefined;
  readonly reference: ReferenceMemory;
  readonly maxCost: number;
  readonly writes: Writes;
  readonly bounds: ReadBounds;
  readonly changeWaits: ChangeWaits;
  readonly webhooks: WebhookSending;
  readonly shares: WorkspaceShares;
  readonly executor?: ExecutorName | undefined;
  readonly recentWrites?: RecentWrites | undefined;
}

/** Creates the context of each request. */
export class Contexts {
  /** Set when the server is about to stop. Readiness then fails, unless another worker takes over. */
  draining: 'stopping' | 'replaced' | undefined;
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    this.#parts = parts;
  }

  /**
   * Throws `unauthenticated`, `unavailable` when the token cannot be looked up, and `rate_limited` when its quota is used up.
   * Without a valid token the address is counted but not refused here, because 401 comes before 429.
   */
  async authenticatedContext(
    request: RequestSource,
    authorization: string | undefined,
  ): Promise<OperationContext> {
    const now = new Date();
    const { callers, changeWaits, recentWrites } = this.#parts;
    const principal = await callers.principal(request, authorization, now);
    const allowance = await callers.count(request, principal);
    if (!principal) return this.#contextOf(request, now, principal);
    allowance.check();
    const reauthenticate = () => this.reauthenticate(authorization);
    const { tokenId } = principal;
    return {
      ...this.#contextOf(request, now, principal),
      changes: changeWaits.arrivalsFor(request, principal, reauthenticate),
      turn: (bytes) => request.documentTurn(bytes),
      replica: this.#replicaFor(request, tokenId),
      onWrite: () => {
        request.hasWritten = true;
        recentWrites?.note(tokenId);
      },
    };
  }

  /** Checks the token of a request that has waited for its client. Throws `unauthenticated`. */
  reauthenticate(authorization: string | undefined): Promise<Principal> {
    return this.#parts.callers.checksOf(authorization).authenticate();
  }

  /** The admission that gives requests of a workspace their places. */
  shareOf(workspaceId: string): Admission {
    return this.#parts.shares.of(workspaceId);
  }

  /** The position of the primary after a write; undefined without replicas. */
  async position(): Promise<WalPosition | undefined> {
    return this.#parts.database.replicas?.position().catch(() => unknownPosition);
  }

  /** The replica that answers the queries of a request; every request gets its replica from this method. */
  #replicaFor({ seenPosition }: RequestSource, tokenId: string): ReadServer | undefined {
    const { database, recentWrites } = this.#parts;
    const { replicas } = database;
    if (!replicas || (!seenPosition && recentWrites?.has(tokenId))) return undefined;
    return replicas.choose(seenPosition);
  }

  /** Calls `onRefused` soon after such a token has become invalid. Returns a function that stops watching it. */
  watchToken(authorization: string, onRefused: () => void): () => void {
    const { callers, changeWaits } = this.#parts;
    return changeWaits.watchToken(callers.checksOf(authorization), {
      // While the token cannot be looked up, it is not refused either.
      fail: (error) => {
        if (error instanceof AppError && error.code === 'unauthenticated') onRefused();
      },
    });
  }

  /** The first chunk of a stream. Streams with the same rights and an equal `inputKey` share it. */
  firstChunk(principal: Principal, inputKey: string, read: () => Promise<EventChunk>): Promise<EventChunk> {
    return this.#parts.changeWaits.first(principal, inputKey, read);
  }

  /**
   * Opens a stream, which continues from the first chunk. Before each chunk its token is checked again. A chunk does not
   * count as a request, but its objects are charged, and it waits while none are left.
   */
  stream(
    request: RequestSource,
    authorization: string | undefined,
    principal: Principal,
    source: StreamSource<OperationContext>,
  ): EventStream {
    const { callers, changeWaits } = this.#parts;
    const checks = callers.checksOf(authorization);
    const rights: StreamRights = {
      ...checks,
      cachedPrincipal: () => callers.cachedReader(principal, checks),
      contextOf: (reader) => this.#contextOf(request, new Date(), reader),
      charge: (objects) => request.allowance?.charge(objects),
    };
    return changeWaits.stream(request, principal, rights, source);
  }

  /** The context of a read that the service does by itself with the rights of a member. No quota counts it. */
  serviceContext(principal: Principal, requestId: string): OperationContext {
    const request = { requestId, origin: '', address: undefined, seenVersion: undefined };
    return {
      ...this.#contextOf(request, new Date(), principal),
      rateLimit: unlimited,
      maxCost: unlimitedQuota.limit,
    };
  }

  /** The context of a public operation, which counts against its address. Throws `rate_limited`. */
  async publicContext(request: RequestSource): Promise<OperationContext> {
    const allowance = await this.#parts.callers.count(request, undefined);
    allowance.check();
    return this.#contextOf(request, new Date(), undefined);
  }

  /** The context of a public operation that is not counted. */
  uncountedContext(request: RequestSource): OperationContext {
    return this.#contextOf(request, new Date(), undefined);
  }

  /** The handle of a workspace for a request. All handles of requests are created here. */
  dataOf(workspaceId: string): TenantDb {
    return this.#parts.database.of(workspaceId);
  }

  #contextOf(
    request: Omit<RequestSource, keyof WaitingRequest | 'documentTurn'>,
    now: Date,
    principal: Principal | undefined,
  ): OperationContext {
    const { requestId, origin, address, allowance, seenVersion, snapshot, traced } = request;
    const { database, logger, files, bounds, writes, webhooks, maxCost, executor = 'compiled' } = this.#parts;
    const db = principal && this.dataOf(principal.workspaceId);
    return {
      requestId,
      address,
      now,
      principal,
      db,
      connect: () => database.connect(),
      shared: (statement) => database.shared(statement),
      reference: principal && this.referenceOf(principal.workspaceId, seenVersion),
      snapshot,
      files: files && { ...files, baseUrl: files.filesUrl ?? origin },
      loaders: db && new Loaders(db, bounds),
      bounds,
      writes,
      webhooks,
      ping: () => this.#ping(),
      rateLimit: allowance,
      charge: allowance && ((objects) => allowance.charge(objects)),
      maxCost,
      executor,
      traced,
      onFallback: (reason, operation, isFault) =>
        logger[isFault ? 'warn' : 'debug'](
          { err: reason, requestId, operation: operation.slice(0, 100) },
          'graphql-js answers an operation in place of the compiled executor',
        ),
      report: (error) => this.report(request, error),
    };
  }

  /** Logs why the service failed to carry out a request. */
  report(request: Omit<RequestSource, keyof WaitingRequest | 'documentTurn'>, error: unknown): void {
    const cause = causeOf(error);
    if (cause !== undefined) {
      request.cause ??= cause;
    } else {
      const { requestId, trace } = request;
      this.#parts.logger.error({ err: error, requestId, ...trace?.logged }, 'an unexpected error was masked');
    }
  }

  /** The cached reference data of a workspace, for a client that has seen this version of it. */
  referenceOf(workspaceId: string, seen: SeenVersion | undefined): CachedReference {
    const { reference } = this.#parts;
    return {
      current: () => reference.current(workspaceId, seen),
      renewed: () => reference.renewed(workspaceId),
    };
  }

  async #ping(): Promise<void> {
    if (this.draining === 'stopping') raise('unavailable', stoppingMessage);
    const startedMs = performance.now();
    try {
      await this.#parts.database.ping(readinessTimeoutMs);
    } catch (error) {
      // A refused connection fails at once, and a timer may be late.
      const waitedMs = Math.min(Math.ceil(performance.now() - startedMs), readinessTimeoutMs);
      const message = `The data store did not answer within ${waitedMs} ms.`;
      throw new AppError('unavailable', message, [], error);
    }
  }
}
