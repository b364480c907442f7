import type { Kysely } from 'kysely';
import type { Lease } from '../db/lease.ts';
import type { Loaders } from '../db/loaders.ts';
import type { Tables } from '../db/tables.ts';
import { raise } from './errors.ts';
import type { RequestFiles } from './files.ts';

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

/** What one request carries. Public operations run without a principal. */
export interface Context {
  readonly requestId: string;
  readonly db: Kysely<Tables>;
  readonly principal: Principal | undefined;
  /** Rows of the principal's workspace, loaded in batches. */
  readonly loaders: Loaders | undefined;
  /** Lends a connection for prepared statements; undefined inside a transaction, which all has to go through. */
  readonly connect: (() => Promise<Lease>) | undefined;
  /** Undefined in a server that keeps no files. */
  readonly files: RequestFiles | undefined;
  /** The time by which the request is judged (stale threads, current deliveries, expiry). */
  readonly now: Date;
  /** Answers once the data store has, or throws `unavailable` after the deadline. */
  readonly ping: () => Promise<void>;
}

/** The context of a request that came with a valid token. */
export interface SignedIn extends Context {
  readonly principal: Principal;
  readonly loaders: Loaders;
}

/** The second line behind the scope rule: nothing of a workspace is touched without a principal. */
export function signedIn(ctx: Context): SignedIn {
  if (!ctx.principal || !ctx.loaders) raise('unauthenticated', 'This needs an access token.');
  return ctx as SignedIn;
}
