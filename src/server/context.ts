import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import type { ReadServer } from '../db/engine/replicas.ts';
import { unknownPosition, type WalPosition } from '../db/engine/wal-position.ts';
import type { ReadBounds } from '../db/query/read-bounds.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';
import { Loaders } from '../db/reads/loaders.ts';
import type { ExecutorName, OperationContext } from '../executor/run/execute.ts';
import { RateLimitedError } from '../executor/answers/challenge.ts';
import type { EventChunk, EventStream, StreamSource } from '../rest-compat/events.ts';
import type { ReferenceMemory, SeenVersion } from '../reference/memory.ts';
import type { CachedReference, Principal, QuotaState, RateLimit } from '../resolvers/context.ts';
import { causeOf } from '../executor/answers/errors.ts';
import { maxInt32 } from '../model/int32.ts';
import type { WebhookSending } from '../resolvers/webhooks/sending.ts';
import type { Writes } from '../resolvers/writes/write-transaction.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import type { Authenticator } from './authenticate.ts';
import type { Refused } from './limits/refusals.ts';
import type { ServerFiles } from './open-files.ts';
import type { RecentWrites } from './recent-writes.ts';
import { stoppingMessage } from './stopping.ts';
import type { Trace } from './observability/trace.ts';
import type { ChangeWaits, StreamRights, TokenChecks, WaitingRequest } from './change-waits.ts';
import type { UnknownTokens } from './limits/unknown-tokens.ts';
import { type Allowance, callerOfAddress, callerOfToken, type RateLimiter } from './limits/rate-limit.ts';

/** How long the readiness probe waits for the database. */
export const readinessTimeoutMs = 2_000;

/** What a context needs from its request. */
export interface RequestSource extends WaitingRequest {
  readonly requestId: string;
  readonly trace?: Trace | undefined;
  readonly traced?: OperationContext['traced'];
  readonly origin: string;
  /** The address of the client, if it is known. */
  readonly address: string | undefined;
  /** The version of the reference data that the client has seen, as the client sent it. */
  readonly seenVersion: SeenVersion | undefined;
  /** The position of its last write, as the client sent it. */
  readonly seenPosition?: WalPosition | undefined;
  /** The header X-Workgraph-Snapshot, as the client sent it. */
  readonly snapshot?: string | undefined;
  /** Set once the request may have written something. */
  hasWritten?: boolean;
  /** The rate limit of the caller. Set when the request has been counted. */
  allowance?: Allowance;
  /** Why the service failed to carry out the request, for the log line. */
  cause?: string;
}

const unlimitedQuota: QuotaState = { limit: maxInt32, remaining: maxInt32, resetUtc: new Date(0) };
const unlimited: RateLimit = { requests: unlimitedQuota, cost: unlimitedQuota };

/** A token whose quota is used up, and the refusal for its holder. */
export interface Overdrawn {
  readonly tokenId: string;
  readonly allowance: Allowance;
  readonly refused: Refused;
}

/** Creates the context of each request. */
export class Contexts {
  /** Set when the server is about to stop. Readiness then fails, unless another worker takes over. */
  draining: 'stopping' | 'replaced' | undefined;
  readonly #database: Database;
  readonly #authenticator: Authenticator;
  readonly #logger: Logger;
  readonly #files: ServerFiles | undefined;
  readonly #reference: ReferenceMemory;
  readonly #rateLimiter: RateLimiter;
  readonly #unknownTokens: UnknownTokens;
  readonly #maxCost: number;
  readonly #writes: Writes;
  readonly #bounds: ReadBounds;
  readonly #executor: ExecutorName;
  readonly #changeWaits: ChangeWaits;
  readonly #webhooks: WebhookSending;
  readonly #recentWrites: RecentWrites | undefined;

  constructor(
    database: Database,
    authenticator: Authenticator,
    logger: Logger,
    files: ServerFiles | undefined,
    services: {
      reference: ReferenceMemory;
      rateLimiter: RateLimiter;
      unknownTokens: UnknownTokens;
      maxCost: number;
      writes: Writes;
      bounds: ReadBounds;
      changeWaits: ChangeWaits;
      webhooks: WebhookSending;
      executor?: ExecutorName | undefined;
      recentWrites?: RecentWrites | undefined;
    },
  ) {
    this.#recentWrites = services.recentWrites;
    this.#reference = services.reference;
    this.#rateLimiter = services.rateLimiter;
    this.#unknownTokens = services.unknownTokens;
    this.#maxCost = services.maxCost;
    this.#writes = services.writes;
    this.#bounds = services.bounds;
    this.#changeWaits = services.changeWaits;
    this.#webhooks = services.webhooks;
    this.#executor = services.executor ?? 'compiled';
    this.#files = files;
    this.#database = database;
    this.#authenticator = authenticator;
    this.#logger = logger;
  }

  /**
   * Throws `unauthenticated`, `unavailable` when the token cannot be looked up, and `rate_limited` when its quota is used up.
   * Without a valid token the address is counted but not refused here, because 401 comes before 429.
   */
  async authenticated(request: RequestSource, authorization: string | undefined): Promise<OperationContext> {
    const now = new Date();
    const principal = await this.#principal(request, authorization, now);
    const allowance = await this.#count(request, principal && callerOfToken(principal.tokenId));
    if (!principal) return this.#of(request, now, principal);
    allowance.check();
    const again = () => this.#authenticator.authenticate(authorization, new Date());
    const { tokenId } = principal;
    return {
      ...this.#of(request, now, principal),
      changes: this.#changeWaits.arrivalsFor(request, principal, again),
      replica: this.#readsOf(request, tokenId),
      wrote: () => {
        request.hasWritten = true;
        this.#recentWrites?.note(tokenId);
      },
    };
  }

  /** The position of the primary after a write; undefined without replicas. */
  async position(): Promise<WalPosition | undefined> {
    return this.#database.replicas?.position().catch(() => unknownPosition);
  }

  /** The replica that answers the queries of a request; every request gets its replica from this method. */
  #readsOf({ seenPosition }: RequestSource, tokenId: string): ReadServer | undefined {
    const { replicas } = this.#database;
    if (!replicas || (!seenPosition && this.#recentWrites?.has(tokenId))) return undefined;
    return replicas.choose(seenPosition);
  }

  /**
   * The principal of a token with which a client signs in once for many requests, each of which is authenticated again. It is not
   * counted unless the token is invalid. Throws `unauthenticated`, and `unavailable` when it cannot be looked up.
   */
  async signIn(request: RequestSource, authorization: string): Promise<Principal> {
    const principal = await this.#principal(request, authorization, new Date());
    return principal ?? raise('unauthenticated', 'An access token is required.');
  }

  /** Calls `onRefused` soon after such a token has become invalid. Returns a function that stops watching it. */
  watchToken(authorization: string, onRefused: () => void): () => void {
    return this.#changeWaits.watchToken(this.#checksOf(authorization), {
      // While the token cannot be looked up, it is not refused either.
      fail: (error) => {
        if (error instanceof AppError && error.code === 'unauthenticated') onRefused();
      },
    });
  }

  #checksOf(authorization: string | undefined): TokenChecks {
    const token = this.#authenticator.keyOf(authorization);
    return {
      token,
      knownInBackground: () => this.#authenticator.knownInBackground(token, new Date()),
      authenticate: async () => {
        const found = await this.#authenticator.authenticate(authorization, new Date());
        return found ?? raise('unauthenticated', 'An access token is required.');
      },
    };
  }

  /** The first chunk of a stream, shared by streams of the same rights for which `begin` is equal. */
  firstChunk(principal: Principal, begin: string, read: () => Promise<EventChunk>): Promise<EventChunk> {
    return this.#changeWaits.first(principal, begin, read);
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
    const caller = callerOfToken(principal.tokenId);
    const rights: StreamRights = {
      ...this.#checksOf(authorization),
      known: () => {
        const over = this.#rateLimiter.indebted(caller);
        if (over) throw new RateLimitedError(over.message, over.retryAfterSeconds);
        return this.#authenticator.known(rights.token, new Date());
      },
      contextOf: (reader) => this.#of(request, new Date(), reader),
      charge: (objects) => request.allowance?.charge(objects),
    };
    return this.#changeWaits.stream(request, principal, rights, source);
  }

  /**
   * The token of the request if its quota is known to be used up, without a lookup in the database; undefined if the request must
   * be authenticated in full. The check afterwards may find that the token was revoked.
   */
  overdrawn(authorization: string | undefined): Overdrawn | undefined {
    if (!this.#rateLimiter.hasExhausted) return undefined;
    const tokenId = this.#authenticator.recall(authorization, new Date());
    if (tokenId === undefined) return undefined;
    const allowance = this.#rateLimiter.exhausted(callerOfToken(tokenId));
    const refused = allowance?.overdrawn;
    return refused && { tokenId, allowance, refused };
  }

  /**
   * The refusal for a request with an unknown token whose address has sent too many of them; undefined for any other request. A
   * token that is cached as valid is never refused here.
   */
  refusalOfUnknownToken(address: string | undefined, authorization: string | undefined): Refused | undefined {
    const refused = this.#unknownTokens.refusal(address);
    return refused && this.#authenticator.isUnknown(authorization, new Date()) ? refused : undefined;
  }

  /** The context of a read that the service does by itself with the rights of a member. No quota counts it. */
  ofService(principal: Principal, requestId: string): OperationContext {
    const request = { requestId, origin: '', address: undefined, seenVersion: undefined };
    return {
      ...this.#of(request, new Date(), principal),
      rateLimit: unlimited,
      maxCost: unlimitedQuota.limit,
    };
  }

  /** The context of a public operation, which counts against its address. Throws `rate_limited`. */
  async visitor(request: RequestSource): Promise<OperationContext> {
    const allowance = await this.#count(request);
    allowance.check();
    return this.#of(request, new Date(), undefined);
  }

  /** The context of a public operation that is not counted. */
  anonymous(request: RequestSource): OperationContext {
    return this.#of(request, new Date(), undefined);
  }

  /** The handle of a workspace for a request. All handles of requests are created here. */
  dataOf(workspaceId: string): TenantDb {
    return this.#database.of(workspaceId);
  }

  async #principal(
    request: RequestSource,
    authorization: string | undefined,
    now: Date,
  ): Promise<Principal | undefined> {
    try {
      return await this.#authenticator.authenticate(authorization, now);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') {
        this.#unknownTokens.note(request.address);
        await this.#count(request);
      }
      throw error;
    }
  }

  /** Counts a request once, however often it is called. */
  async #count(request: RequestSource, caller = callerOfAddress(request.address)): Promise<Allowance> {
    request.allowance ??= await this.#rateLimiter.take(caller);
    return request.allowance;
  }

  #of(
    request: Omit<RequestSource, keyof WaitingRequest>,
    now: Date,
    principal: Principal | undefined,
  ): OperationContext {
    const { requestId, origin, address, allowance, seenVersion, snapshot, traced } = request;
    const files = this.#files;
    const db = principal && this.dataOf(principal.workspaceId);
    return {
      requestId,
      address,
      now,
      principal,
      db,
      connect: () => this.#database.connect(),
      shared: (statement) => this.#database.shared(statement),
      reference: principal && this.#referenceOf(principal.workspaceId, seenVersion),
      snapshot,
      files: files && { ...files, baseUrl: files.filesUrl ?? origin },
      loaders: db && new Loaders(db, this.#bounds),
      bounds: this.#bounds,
      writes: this.#writes,
      webhooks: this.#webhooks,
      ping: () => this.#ping(),
      rateLimit: allowance,
      charge: allowance && ((objects) => allowance.charge(objects)),
      maxCost: this.#maxCost,
      executor: this.#executor,
      traced,
      fellBack: (reason, operation, isFault) =>
        this.#logger[isFault ? 'warn' : 'debug'](
          { err: reason, requestId, operation: operation.slice(0, 100) },
          'graphql-js answers an operation in place of the compiled executor',
        ),
      report: (error) => this.report(request, error),
    };
  }

  /** Logs why the service failed to carry out a request. */
  report(request: Omit<RequestSource, keyof WaitingRequest>, error: unknown): void {
    const cause = causeOf(error);
    if (cause !== undefined) {
      request.cause ??= cause;
    } else {
      const { requestId, trace } = request;
      this.#logger.error({ err: error, requestId, ...trace?.logged }, 'an unexpected error was masked');
    }
  }

  #referenceOf(workspaceId: string, seen: SeenVersion | undefined): CachedReference {
    return {
      current: () => this.#reference.current(workspaceId, seen),
      renewed: () => this.#reference.renewed(workspaceId),
    };
  }

  async #ping(): Promise<void> {
    if (this.draining === 'stopping') raise('unavailable', stoppingMessage);
    const startedMs = performance.now();
    try {
      await this.#database.ping(readinessTimeoutMs);
    } catch (error) {
      // A refused connection fails at once, and a timer may be late.
      const waitedMs = Math.min(Math.ceil(performance.now() - startedMs), readinessTimeoutMs);
      const message = `The data store did not answer within ${waitedMs} ms.`;
      throw new AppError('unavailable', message, [], error);
    }
  }
}
