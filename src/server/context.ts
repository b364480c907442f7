import type { Logger } from 'pino';
import type { Database } from '../db/engine.ts';
import { Loaders } from '../db/loaders.ts';
import type { OperationContext } from '../executor/execute.ts';
import type { Principal } from '../resolvers/context.ts';
import { raise } from '../resolvers/errors.ts';
import type { Authenticator } from './authenticate.ts';
import type { ServerFiles } from './open-files.ts';

/** How long the readiness probe waits for the data store. */
export const readinessTimeoutMs = 2_000;

/** What a context takes from its request: the id, and where the client reaches the service. */
export interface RequestSource {
  readonly requestId: string;
  readonly origin: string;
}

/** Makes the context of each request. */
export class Contexts {
  /** Set when the server is about to stop: it then says that it is not ready. */
  draining = false;
  readonly #database: Database;
  readonly #authenticator: Authenticator;
  readonly #logger: Logger;
  readonly #files: ServerFiles | undefined;

  constructor(
    database: Database,
    authenticator: Authenticator,
    logger: Logger,
    files: ServerFiles | undefined,
  ) {
    this.#files = files;
    this.#database = database;
    this.#authenticator = authenticator;
    this.#logger = logger;
  }

  /** Throws InvalidTokenError, or `unavailable` when the token cannot be looked up. */
  async authenticated(request: RequestSource, authorization: string | undefined): Promise<OperationContext> {
    const now = new Date();
    const principal = await this.#authenticator.authenticate(authorization, now);
    return this.#of(request, now, principal);
  }

  anonymous(request: RequestSource): OperationContext {
    return this.#of(request, new Date(), undefined);
  }

  #of({ requestId, origin }: RequestSource, now: Date, principal: Principal | undefined): OperationContext {
    const files = this.#files;
    return {
      requestId,
      now,
      principal,
      db: this.#database.db,
      connect: () => this.#database.connect(),
      files: files && { ...files, baseUrl: files.filesUrl ?? origin },
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
