import type { Logger } from 'pino';
import { type TokenHolder, TokenHolders, updateLastUsed } from '../db/access-tokens.ts';
import type { Database } from '../db/engine/engine.ts';
import { metered } from '../db/engine/meter.ts';
import { InvalidTokenError } from '../executor/challenge.ts';
import { hashToken, isScope, takesPart } from '../resolvers/access-tokens.ts';
import type { ReferenceMemory } from '../reference/memory.ts';
import type { Principal } from '../resolvers/context.ts';
import { recentlyUsed } from './limits/recently-used.ts';

/** How often the use of a token is written down. */
const lastUsedEveryMs = 60_000;

/** What GraphiQL's page sends until somebody has put a token in: it is no credential, so the schema can be read. */
export const tokenPlaceholder = 'Bearer <paste the token printed at start>';

/** How many holders of tokens are remembered. */
const maxHolders = 10_000;

/**
 * Turns the Authorization header into who calls. Who holds a token is remembered as long as nothing changed in what
 * tokens of its workspace may do, which is checked under the lease of its reference data: a revocation is seen at
 * once in this process, and within that lease in others.
 */
export class Authenticator {
  readonly #database: Database;
  readonly #holders: TokenHolders;
  readonly #reference: ReferenceMemory;
  /** By the hash of the token. */
  readonly #known = recentlyUsed<TokenHolder>(maxHolders);
  readonly #principals = new WeakMap<TokenHolder, Principal>();
  readonly #logger: Logger;
  readonly #writing = new Set<Promise<void>>();
  /** When this process last wrote the use of a token, by its id. The row that `#known` holds may be older. */
  readonly #written = recentlyUsed<number>(maxHolders);

  constructor(database: Database, reference: ReferenceMemory, logger: Logger) {
    this.#database = database;
    this.#reference = reference;
    this.#holders = new TokenHolders(database);
    this.#logger = logger;
  }

  /** Nobody without the header; throws InvalidTokenError for a token that is not good, public operation or not. */
  async authenticate(authorization: string | undefined, now: Date): Promise<Principal | undefined> {
    if (authorization === undefined || authorization === tokenPlaceholder) return undefined;
    const token = tokenIn(authorization);
    if (!token)
      throw new InvalidTokenError('The Authorization header must be: Bearer, a space, and an access token.');
    const holder = await this.#holderOf(hashToken(token));
    if (!holder || !isGood(holder, now))
      throw new InvalidTokenError('The access token is unknown, expired or revoked.');
    this.#noteUse(holder, now);
    return this.#principalOf(holder);
  }

  /**
   * The id of a token that was good at most a lease ago, without waiting for anything; undefined when that has to be
   * looked up. Enough to refuse its holder, and nothing else.
   */
  recall(authorization: string | undefined, now: Date): string | undefined {
    const token = authorization === undefined ? undefined : tokenIn(authorization);
    if (token === undefined) return undefined;
    const known = this.#remembered(token);
    if (!known || !isGood(known, now)) return undefined;
    const recent = this.#reference.recent(known.workspaceId);
    return recent?.version.auth === known.auth ? known.tokenId : undefined;
  }

  /** Does the header hold a token that this process does not remember as good, or something that is no token. */
  isUnknown(authorization: string | undefined, now: Date): boolean {
    if (authorization === undefined || authorization === tokenPlaceholder) return false;
    const token = tokenIn(authorization);
    const known = token === undefined ? undefined : this.#remembered(token);
    return !known || !isGood(known, now);
  }

  /** Waits for what is still being written, before the database is closed. */
  async settle(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #remembered(token: string): TokenHolder | undefined {
    return this.#known.get(hashToken(token).toString('base64'));
  }

  async #holderOf(tokenHash: Buffer): Promise<TokenHolder | undefined> {
    const key = tokenHash.toString('base64');
    const known = this.#known.get(key);
    if (known) {
      const current = this.#reference.current(known.workspaceId);
      const { version } = current instanceof Promise ? await current : current;
      if (version.auth === known.auth) return known;
      this.#known.delete(key);
    }
    // Under a meter of its own, like the checks of reference data: when they come is not the operation's doing.
    const holder = await metered(() => this.#holders.find(tokenHash));
    if (!holder) return undefined;
    this.#known.set(key, holder);
    return holder;
  }

  #principalOf(holder: TokenHolder): Principal {
    const known = this.#principals.get(holder);
    if (known) return known;
    // All requests of the token have this one.
    const principal = Object.freeze(toPrincipal(holder));
    this.#principals.set(holder, principal);
    return principal;
  }

  /** Beside the answer, which neither waits for it nor fails with it. */
  #noteUse(holder: TokenHolder, now: Date): void {
    const { tokenId } = holder;
    const before = new Date(now.getTime() - lastUsedEveryMs);
    const written = Math.max(holder.lastUsedUtc?.getTime() ?? 0, this.#written.get(tokenId) ?? 0);
    if (written > before.getTime()) return;
    this.#written.set(tokenId, now.getTime());
    // Under a meter of its own: the request's statements are those that it asked for.
    const writing = metered(() => updateLastUsed(this.#database.of(holder.workspaceId), holder, now, before))
      .catch((error: unknown) =>
        this.#logger.warn({ err: error, tokenId }, 'the use of a token was not written'),
      )
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }
}

function tokenIn(authorization: string): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}

function isGood(holder: TokenHolder, now: Date): boolean {
  const { revokedUtc, expiresUtc } = holder;
  return !revokedUtc && !(expiresUtc && expiresUtc <= now) && takesPart(holder);
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
