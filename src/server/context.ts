import type { Logger } from 'pino';
import type { Database } from '../db/engine.ts';
import { Loaders } from '../db/loaders.ts';
import type { OperationContext } from '../executor/execute.ts';
import type { Principal } from '../resolvers/context.ts';
import { raise } from '../resolvers/errors.ts';
import type { Authenticator } from './authenticate.ts';

/** How long the readiness probe waits for the data store. */
export const readinessTimeoutMs = 2_000;

/** Makes the context of each request. */
export class Contexts {
  /** Set when the server is about to stop: it then says that it is not ready. */
  draining = false;
  readonly #database: Database;
  readonly #authenticator: Authenticator;
  readonly #logger: Logger;

  constructor(database: Database, authenticator: Authenticator, logger: Logger) {
    this.#database = database;
    this.#authenticator = authenticator;
    this.#logger = logger;
  }

  /** Throws InvalidTokenError, or `unavailable` when the token cannot be looked up. */
  async authenticated(requestId: string, authorization: string | undefined): Promise<OperationContext> {
    const now = new Date();
    const principal = await this.#authenticator.authenticate(authorization, now);
    return this.#of(requestId, now, principal);
  }

  anonymous(requestId: string): OperationContext {
    return this.#of(requestId, new Date(), undefined);
  }

  #of(requestId: string, now: Date, principal: Principal | undefined): OperationContext {
    return {
      requestId,
      now,
      principal,
      db: this.#database.db,
      loaders: principal && new Loaders(this.#database.db, principal.workspaceId),
      ping: () => this.#ping(),
      report: (error) => this.#logger.error({ err: error, requestId }, 'an unexpected error was masked'),
    };
  }

  async #ping(): Promise<void> {
    if (this.draining) raise('unavailable', 'The server is stopping.');
    try {
      await this.#database.ping(readinessTimeoutMs);
    } catch {
      raise('unavailable', `The data store did not answer within ${readinessTimeoutMs} ms.`);
    }
  }
}
