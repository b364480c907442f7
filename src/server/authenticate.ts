import type { Logger } from 'pino';
import { type TokenHolder, TokenHolders, updateLastUsed } from '../db/access-tokens.ts';
import type { Database } from '../db/engine/engine.ts';
import { withMeter } from '../db/engine/meter.ts';
import { InvalidTokenError } from '../executor/answers/challenge.ts';
import { AppError } from '../resolvers/errors.ts';
import { hashToken, isScope, mayUseTokens } from '../resolvers/access/access-tokens.ts';
import type { ReferenceMemory } from '../reference/memory.ts';
import type { Principal } from '../resolvers/context.ts';
import { recentlyUsed } from './limits/recently-used.ts';

/** How often the last use of a token is stored. */
const lastUsedIntervalMs = 60_000;

/** GraphiQL sends this until the user enters a token. It counts as no token, so that the schema can be read. */
export const tokenPlaceholder = 'Bearer <paste the token printed at start>';

/** How many holders of tokens are cached. */
const maxHolders = 10_000;

/**
 * Finds the principal for the Authorization header. The holder of a token is cached until the tokens or roles of its workspace
 * change, which is checked with the version of the reference data. A revocation works at once in this process, and within the
 * lease of the reference data in others.
 */
export class Authenticator {
  readonly #database: Database;
  readonly #holders: TokenHolders;
  readonly #reference: ReferenceMemory;
  /** By the hash of the token. */
  readonly #cachedHolders = recentlyUsed<TokenHolder>(maxHolders);
  readonly #principals = new WeakMap<TokenHolder, Principal>();
  readonly #logger: Logger;
  readonly #pendingWrites = new Set<Promise<void>>();
  /** When this process last wrote the use of a token, by its id. The row in `#cachedHolders` may be older. */
  readonly #lastWrittenMs = recentlyUsed<number>(maxHolders);

  constructor(database: Database, reference: ReferenceMemory, logger: Logger) {
    this.#database = database;
    this.#reference = reference;
    this.#holders = new TokenHolders(database);
    this.#logger = logger;
  }

  /**
   * Returns undefined without the header. Throws InvalidTokenError for an invalid token, and `unauthenticated` for another scheme, for
   * public operations too.
   */
  async authenticate(authorization: string | undefined, now: Date): Promise<Principal | undefined> {
    if (authorization === undefined || authorization === tokenPlaceholder) return undefined;
    const token = tokenIn(authorization);
    if (!token) throw invalidHeaderError(authorization);
    const holder = await this.#holderOf(hashToken(token));
    if (!holder || !isUsable(holder, now))
      throw new InvalidTokenError('The access token is unknown, expired or revoked.');
    this.#noteUse(holder, now);
    return this.#principalOf(holder);
  }

  /**
   * The id of a token that was valid at most a lease ago, without a lookup in the database; undefined when a lookup is needed.
   * This may only be used to refuse a request.
   */
  recentTokenId(authorization: string | undefined, now: Date): string | undefined {
    const token = authorization === undefined ? undefined : tokenIn(authorization);
    if (token === undefined) return undefined;
    const holder = this.#cachedHolder(token);
    if (!holder || !isUsable(holder, now)) return undefined;
    const recent = this.#reference.recent(holder.workspaceId);
    return recent?.version.auth === holder.auth ? holder.tokenId : undefined;
  }

  /** The key of a token for `cachedPrincipal`. The token cannot be derived from it. */
  keyOf(authorization: string | undefined): string {
    const token = authorization === undefined ? undefined : tokenIn(authorization);
    return token === undefined ? '' : keyOfHash(hashToken(token));
  }

  /**
   * The principal of a token, if the cache shows that the token is valid now. Undefined if only `authenticate`, which may wait,
   * can decide that.
   */
  cachedPrincipal(key: string, now: Date): Principal | undefined {
    const holder = this.#cachedHolders.get(key);
    if (!holder || !isUsable(holder, now)) return undefined;
    const current = this.#reference.current(holder.workspaceId);
    if (current instanceof Promise) {
      // Prevents an unhandled rejection. The callers that await the check get its error.
      current.catch(() => undefined);
      return undefined;
    }
    return current.version.auth === holder.auth ? this.#principalOf(holder) : undefined;
  }

  /**
   * As `cachedPrincipal`, for the regular check of an idle stream: it may wait for the reference data, and does not keep
   * their lease alive.
   */
  async cachedPrincipalInBackground(key: string, now: Date): Promise<Principal | undefined> {
    const holder = this.#cachedHolders.get(key);
    if (!holder || !isUsable(holder, now)) return undefined;
    const { version } = await this.#reference.currentInBackground(holder.workspaceId);
    return version.auth === holder.auth ? this.#principalOf(holder) : undefined;
  }

  /** Whether the header has a token that is not cached as valid. */
  isUnknown(authorization: string | undefined, now: Date): boolean {
    if (authorization === undefined || authorization === tokenPlaceholder) return false;
    const token = tokenIn(authorization);
    const holder = token === undefined ? undefined : this.#cachedHolder(token);
    return !holder || !isUsable(holder, now);
  }

  /** Waits for writes in progress. To be called before the database is closed. */
  async settle(): Promise<void> {
    await Promise.all(this.#pendingWrites);
  }

  #cachedHolder(token: string): TokenHolder | undefined {
    return this.#cachedHolders.get(keyOfHash(hashToken(token)));
  }

  async #holderOf(tokenHash: Buffer): Promise<TokenHolder | undefined> {
    const key = keyOfHash(tokenHash);
    const cached = this.#cachedHolders.get(key);
    if (cached) {
      const current = this.#reference.current(cached.workspaceId);
      const { version } = current instanceof Promise ? await current : current;
      if (version.auth === cached.auth) return cached;
      this.#cachedHolders.delete(key);
    }
    // Counted by a separate meter, like checks of the reference data, because the operation does not cause them.
    const holder = await withMeter(() => this.#holders.find(tokenHash, cached));
    if (!holder) return undefined;
    this.#cachedHolders.set(key, holder);
    return holder;
  }

  #principalOf(holder: TokenHolder): Principal {
    const cached = this.#principals.get(holder);
    if (cached) return cached;
    // All requests of the token share this object.
    const principal = Object.freeze(toPrincipal(holder));
    this.#principals.set(holder, principal);
    return principal;
  }

  /** Runs in the background. The answer does not wait for it, and does not fail if it fails. */
  #noteUse(holder: TokenHolder, now: Date): void {
    const { tokenId } = holder;
    const before = new Date(now.getTime() - lastUsedIntervalMs);
    const written = Math.max(holder.lastUsedUtc?.getTime() ?? 0, this.#lastWrittenMs.get(tokenId) ?? 0);
    if (written > before.getTime()) return;
    this.#lastWrittenMs.set(tokenId, now.getTime());
    // On a meter of its own, because the statement does not belong to the operation.
    const writing = withMeter(() =>
      updateLastUsed(this.#database.of(holder.workspaceId), holder, now, before),
    )
      .catch((error: unknown) =>
        this.#logger.warn({ err: error, tokenId }, 'the last use of a token was not recorded'),
      )
      .finally(() => this.#pendingWrites.delete(writing));
    this.#pendingWrites.add(writing);
  }
}

function tokenIn(authorization: string): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}

/** Another scheme gets a challenge without an error code (RFC 6750, 3.1). */
function invalidHeaderError(authorization: string): AppError {
  const message = 'The Authorization header must be: Bearer, a space, and an access token.';
  const isBearer = /^Bearer(?:\s|$)/i.test(authorization);
  return isBearer ? new InvalidTokenError(message) : new AppError('unauthenticated', message);
}

function keyOfHash(tokenHash: Buffer): string {
  return tokenHash.toString('base64');
}

function isUsable(holder: TokenHolder, now: Date): boolean {
  const { revokedUtc, expiresUtc } = holder;
  return !revokedUtc && !(expiresUtc && expiresUtc <= now) && mayUseTokens(holder);
}

function toPrincipal(holder: TokenHolder): Principal {
  const { workspaceId, userAccountId, memberId, displayName, role, principalKind, tokenId, expiresUtc } =
    holder;
  const scopes = new Set(holder.scopes.filter(isScope));
  return {
    workspaceId,
    userAccountId,
    memberId,
    displayName,
    role,
    principalKind,
    tokenId,
    scopes,
    expiresUtc,
  };
}
