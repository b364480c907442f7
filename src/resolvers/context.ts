import type { BesideTable } from '../db/writes/issue-beside.ts';
import type { Lease } from '../db/engine/lease.ts';
import type { Loaders } from '../db/reads/loaders.ts';
import type { Prepared } from '../db/query/prepared.ts';
import type { Snapshot } from '../reference/snapshot.ts';
import { raise } from './errors.ts';
import type { RequestFiles } from './attachments/files.ts';
import type { OpenTransaction, Writes } from './writes/write-transaction.ts';
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

/** Who calls: a member, by an access token. */
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
  /** When it is whole again, if nothing more is taken. */
  resetUtc: Date;
}

/** What the caller may still do: requests, and the objects that they give. */
export interface RateLimit {
  readonly requests: QuotaState;
  readonly cost: QuotaState;
}

/** The cached reference data of one workspace, as one request may see them. */
export interface CachedReference {
  /** At once, where they were checked a moment ago; else after a check. */
  current(): Snapshot | Promise<Snapshot>;
  /** After a check that begins now. */
  renewed(): Promise<Snapshot>;
}

/** What one request carries. Public operations run without a principal. */
export interface Context {
  readonly requestId: string;
  /** Where the request came from, as far as that is known. */
  readonly address?: string | undefined;
  /** The handle of the principal's workspace, bound to it. */
  readonly db: TenantDb | undefined;
  readonly principal: Principal | undefined;
  /** Rows of the principal's workspace, loaded in batches. */
  readonly loaders: Loaders | undefined;
  /** Lends a connection for prepared statements; undefined inside a transaction, which all has to go through. */
  readonly connect: (() => Promise<Lease>) | undefined;
  /** A connection that others use at the same time, where there is one for a statement that reads; of no use inside a transaction. */
  readonly shared?: (statement: Prepared) => Lease | undefined;
  /** The reference data of the principal's workspace as they are cached in memory; undefined where none are. */
  readonly reference?: CachedReference | undefined;
  /** Undefined in a server that keeps no files. */
  readonly files: RequestFiles | undefined;
  /** The time by which the request is judged (stale threads, current deliveries, expiry). */
  readonly now: Date;
  /** Answers once the data store has, or throws `unavailable` after the deadline. */
  readonly ping: () => Promise<void>;
  /** Undefined where nothing is counted: for a probe. */
  readonly rateLimit?: RateLimit | undefined;
  /** Of what hangs on an issue, what the answer to a write shows: the write may tell of it without being asked again. */
  readonly shows?: readonly BesideTable[];
  readonly writes: Writes;
  /** Set when the whole operation is one transaction, which `db` then is. */
  readonly openTransaction?: OpenTransaction;
}

/** The context of a request that came with a valid token. */
export interface SignedIn extends Context {
  readonly db: TenantDb;
  readonly principal: Principal;
  readonly loaders: Loaders;
  readonly rateLimit: RateLimit;
}

/** The second line behind the scope rule: nothing of a workspace is touched without a principal. */
export function signedIn(ctx: Context): SignedIn {
  if (!ctx.principal || !ctx.db || !ctx.loaders || !ctx.rateLimit)
    raise('unauthenticated', 'An access token is required.');
  return ctx as SignedIn;
}
