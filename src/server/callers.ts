import { noTokenMessage } from '../resolvers/context.ts';
import { RateLimitedError } from '../executor/answers/challenge.ts';
import { AppError, raise } from '../resolvers/errors.ts';
import type { Principal } from '../resolvers/context.ts';
import type { Authenticator } from './authenticate.ts';
import type { StreamRights, TokenChecks } from './change-waits.ts';
import { type Allowance, callerOfAddress, callerOfToken, type RateLimiter } from './limits/rate-limit.ts';
import type { RefusalReason } from './limits/refusals.ts';
import type { UnknownTokens } from './limits/unknown-tokens.ts';

/** A request that is counted. */
export interface CountedRequest {
  /** The address of the client, if it is known. */
  readonly address: string | undefined;
  /** The rate limit of the caller. Set when the request has been counted. */
  allowance?: Allowance;
}

/** A token whose quota is used up, and the refusal for its holder. */
interface OverdrawnToken {
  readonly tokenId: string;
  readonly allowance: Allowance;
  readonly refused: RefusalReason;
}

interface CallerParts {
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly unknownTokens: UnknownTokens;
}

/** Finds out who sends a request, and counts it: against its token, or against its address if it has no valid one. */
export class Callers {
  readonly #authenticator: Authenticator;
  readonly #rateLimiter: RateLimiter;
  readonly #unknownTokens: UnknownTokens;

  constructor({ authenticator, rateLimiter, unknownTokens }: CallerParts) {
    this.#authenticator = authenticator;
    this.#rateLimiter = rateLimiter;
    this.#unknownTokens = unknownTokens;
  }

  /**
   * The principal of a request, which is counted if its token is invalid; undefined without a token. Throws `unauthenticated`, and
   * `unavailable` when the token cannot be looked up.
   */
  async principal(
    request: CountedRequest,
    authorization: string | undefined,
    now: Date,
  ): Promise<Principal | undefined> {
    try {
      return await this.#authenticator.authenticate(authorization, now);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') {
        this.#unknownTokens.note(request.address);
        await this.count(request, undefined);
      }
      throw error;
    }
  }

  /**
   * The principal of a token with which a client signs in once for many requests, each of which is authenticated again. It is not
   * counted unless the token is invalid. Throws `unauthenticated`, and `unavailable` when it cannot be looked up.
   */
  async signIn(request: CountedRequest, authorization: string): Promise<Principal> {
    return (await this.principal(request, authorization, new Date())) ?? tokenRequired();
  }

  /** Counts a request once, however often it is called. */
  async count(request: CountedRequest, principal: Principal | undefined): Promise<Allowance> {
    const caller = principal ? callerOfToken(principal.tokenId) : callerOfAddress(request.address);
    request.allowance ??= await this.#rateLimiter.take(caller);
    return request.allowance;
  }

  /** How the token of an idle stream or connection is checked. */
  checksOf(authorization: string | undefined): TokenChecks {
    const token = this.#authenticator.keyOf(authorization);
    return {
      token,
      cachedPrincipalInBackground: () => this.#authenticator.cachedPrincipalInBackground(token, new Date()),
      authenticate: async () =>
        (await this.#authenticator.authenticate(authorization, new Date())) ?? tokenRequired(),
    };
  }

  /** The principal of a stream that is about to read, if it is cached. Throws `rate_limited` while no objects are left. */
  cachedReader({ tokenId }: Principal, { token }: TokenChecks): ReturnType<StreamRights['cachedPrincipal']> {
    const debt = this.#rateLimiter.indebted(callerOfToken(tokenId));
    if (debt) throw new RateLimitedError(debt.message, debt.retryAfterSeconds);
    return this.#authenticator.cachedPrincipal(token, new Date());
  }

  /**
   * The token of the request if its quota is known to be used up, without a lookup in the database; undefined if the request must
   * be authenticated in full. The check afterwards may find that the token was revoked.
   */
  overdrawn(authorization: string | undefined): OverdrawnToken | undefined {
    if (!this.#rateLimiter.hasExhausted) return undefined;
    const tokenId = this.#authenticator.recentTokenId(authorization, new Date());
    if (tokenId === undefined) return undefined;
    const allowance = this.#rateLimiter.exhausted(callerOfToken(tokenId));
    const refused = allowance?.overdrawn;
    return refused && { tokenId, allowance, refused };
  }

  /**
   * The refusal for a request with an unknown token whose address has sent too many of them; undefined for any other request. A
   * token that is cached as valid is never refused here.
   */
  refusalOfUnknownToken(
    address: string | undefined,
    authorization: string | undefined,
  ): RefusalReason | undefined {
    const refused = this.#unknownTokens.refusal(address);
    return refused && this.#authenticator.isUnknown(authorization, new Date()) ? refused : undefined;
  }
}

function tokenRequired(): never {
  raise('unauthenticated', noTokenMessage);
}
