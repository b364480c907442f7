import type { DocumentNode, GraphQLSchema } from 'graphql';
import { asksForSchema } from '../../executor/introspection.ts';
import type { OperationContext } from '../../executor/execute.ts';
import { AppError } from '../../resolvers/errors.ts';
import type { Introspection } from '../config.ts';

/** Where a schema may be asked about itself: by everybody, by those with a token, or by nobody. */
export class SchemaDoor {
  readonly #schema: GraphQLSchema;
  readonly #introspection: Introspection;
  /** What was found of documents that are remembered elsewhere. */
  readonly #asking = new WeakMap<DocumentNode, boolean>();

  constructor(schema: GraphQLSchema, introspection: Introspection) {
    this.#schema = schema;
    this.#introspection = introspection;
  }

  /** To whom it is shut, names are not offered in place of wrong ones either: they tell the schema piece by piece. */
  isShutTo({ principal }: OperationContext): boolean {
    return this.#introspection === 'off' || (this.#introspection === 'tokens' && principal === undefined);
  }

  /** Throws `unauthenticated`, or says that it is shut to all. */
  check(document: DocumentNode, context: OperationContext): void {
    if (!this.isShutTo(context) || !this.#asks(document)) return;
    throw this.#introspection === 'off'
      ? new AppError('graphql_validation_failed', 'Introspection is switched off on this server.')
      : new AppError('unauthenticated', 'Introspection needs an access token on this server.');
  }

  #asks(document: DocumentNode): boolean {
    const asks = this.#asking.get(document) ?? asksForSchema(this.#schema, document);
    this.#asking.set(document, asks);
    return asks;
  }
}
