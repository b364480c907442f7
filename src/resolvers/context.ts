import type { PreloadableTable } from '../db/writes/preloaded.ts';
import type { BorrowedConnection } from '../db/engine/borrowed-connection.ts';
import type { ReadServer } from '../db/engine/replicas.ts';
import type { Loaders } from '../db/reads/loaders.ts';
import type { Prepared } from '../db/statements/prepared.ts';
import type { ReadBounds } from '../db/query/read-bounds.ts';
import type { Snapshot } from '../reference/snapshot.ts';
import type { LogPages } from './changes/changes.ts';
import { raise } from './errors.ts';
import type { RequestFiles } from './attachments/files.ts';
import type { KeyedWrite } from './writes/keyed-write.ts';
import type { OpenTransaction, Writes } from './writes/write-transaction.ts';
import type { WebhookSending } from './webhooks/sending.ts';
import type { TenantDb } from '../db/tables/tenant-tables.ts';

export const scopes = [
  'issues:read',
  'issues:write',
  'teams:read',
  'projects:read',
  'members:read',
  'workspace:admin',
] as const;
export type Scope = (typeof scopes)[number];

/** The caller: a member with an access token. */
export interface Principal {
  workspaceId: string;
  userAccountId: string;
  memberId: string;
  displayName: string;
  /** Codes of `memberRole` and `principalKind`. */
  role: number;
  principalKind: number;
  tokenId: string;
  scopes: ReadonlySet<Scope>;
  expiresUtc: Date | null;
}

/** How much of a quota is left. */
export interface QuotaState {
  limit: number;
  remaining: number;
  /** When the quota is full again if nothing more is used. */
  resetUtc: Date;
}

/** The remaining quotas of the caller: of requests, and of the objects that they return. */
export interface RateLimit {
  readonly requests: QuotaState;
  readonly cost: QuotaState;
}

/** The cached reference data of a workspace, for one request. */
export interface CachedReference {
  /** The snapshot: immediately if it was checked recently, otherwise after a check of its version. */
  current(): Snapshot | Promise<Snapshot>;
  /** The snapshot after a check of its version that starts now. */
  renewed(): Promise<Snapshot>;
}

/** How a request waits for new changes of its workspace. */
export interface ChangeArrivals {
  /**
   * Runs work that may wait for new changes. When there are some, `wait` resolves with the principal, whose token and
   * scopes have been checked again; when the time is over, it resolves with undefined. Throws `too_many_streams`.
   */
  waiting<Result>(
    ms: number,
    work: (wait: () => Promise<Principal | undefined>) => Promise<Result>,
  ): Promise<Result>;
}

/** The context of a request. Public operations run without a principal. */
export interface Context {
  readonly requestId: string;
  /**
   * Waits for a document turn, for work that takes as long as reading a body of this many bytes. Undefined while the request
   * holds a connection, because others wait for it. Throws `unavailable`.
   */
  readonly turn?: ((bytes: number) => Promise<void>) | undefined;
  /** The network address of the client, if it is known. */
  readonly address?: string | undefined;
  /** The handle that is bound to the principal's workspace. */
  readonly db: TenantDb | undefined;
  readonly principal: Principal | undefined;
  /** The loaders for rows of the principal's workspace. */
  readonly loaders: Loaders | undefined;
  /**
   * Connects to the database for prepared statements. Undefined inside a transaction, because all statements belong to
   * it.
   */
  readonly connect: (() => Promise<BorrowedConnection>) | undefined;
  /** A shared connection for a statement that reads, if one is available. Not used inside a transaction. */
  readonly shared?: (statement: Prepared) => BorrowedConnection | undefined;
  /** The replica for the statements of a query; undefined when the primary has to answer them. */
  readonly replica?: ReadServer | undefined;
  /** Called when an operation that may write begins, and when it has ended. */
  readonly onWrite?: () => void;
  /** The cached reference data of the principal's workspace; undefined if it is not cached. */
  readonly reference?: CachedReference | undefined;
  /** Undefined in a server that does not store files. */
  readonly files: RequestFiles | undefined;
  /** The time of the request, which all of it uses (stale threads, current deliveries, expiry). */
  readonly now: Date;
  /** Resolves when the database has answered; throws `unavailable` if it does not in time. */
  readonly ping: () => Promise<void>;
  /** Undefined for a health probe, which is not counted. */
  readonly rateLimit?: RateLimit | undefined;
  /**
   * Counts the bytes of text that graphql-js puts into the answer, and throws when there are too many. Undefined in the
   * compiled executor.
   */
  readonly spendText?: (bytes: number) => void;
  /** The related rows of the written issue that the answer selects, so that the write can return them preloaded. */
  readonly preloads?: readonly PreloadableTable[];
  readonly writes: Writes;
  /** Sends to webhooks and encrypts their secrets; undefined in a process that serves no requests. */
  readonly webhooks?: WebhookSending | undefined;
  /** Waits for new changes of the principal's workspace; undefined in a process that serves no requests. */
  readonly changes?: ChangeArrivals | undefined;
  /** Pages of the log that the streams of the workspace share; undefined outside of a stream. */
  readonly logPages?: LogPages | undefined;
  /**
   * The cursor of the newest change, read before any other statement of the operation; set only if the operation selects
   * it.
   */
  readonly changeCursor?: string | undefined;
  /** The maximum numbers of rows that a page, a total or a statistic may read. */
  readonly bounds: ReadBounds;
  /** The only write of the operation, if the request has an Idempotency-Key and a single statement may do the write. */
  readonly keyed?: KeyedWrite | undefined;
  /**
   * The row that the only write of the operation returned to an earlier request with the same Idempotency-Key; set if this
   * request repeats that one and must not write.
   */
  readonly earlierRow?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Collects the statements that the compiled executor sends, if the position of the data in the log may later show that
   * the answer is unchanged.
   */
  readonly statements?: Set<Prepared> | undefined;
  /** The header X-Workgraph-Snapshot, as the client sent it. */
  readonly snapshot?: string | undefined;
  /** Set when the whole operation runs in one transaction, which is then `db`. */
  readonly openTransaction?: OpenTransaction;
}

/** The refusal of a request without a token. */
export const noTokenMessage = 'An access token is required.';

/** The context of a request that came with a valid token. */
export interface SignedIn extends Context {
  readonly db: TenantDb;
  readonly principal: Principal;
  readonly loaders: Loaders;
  readonly rateLimit: RateLimit;
}

/**
 * Requires a principal. This is a second safeguard after the scope rule: without a principal, no workspace is accessed.
 */
export function requireSignedIn(ctx: Context): SignedIn {
  if (!ctx.principal || !ctx.db || !ctx.loaders || !ctx.rateLimit) raise('unauthenticated', noTokenMessage);
  return ctx as SignedIn;
}
