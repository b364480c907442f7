import type { DocumentNode, GraphQLSchema } from 'graphql';
import { asksForSchema } from '../../executor/introspection.ts';
import type { OperationContext } from '../../executor/execute.ts';
import { AppError } from '../../resolvers/errors.ts';
import type { Introspection } from '../config.ts';

/** Controls introspection: it is allowed for everybody, for callers with a token, or for nobody. */
export class SchemaDoor {
  readonly #schema: GraphQLSchema;
  readonly #introspection: Introspection;
  /** Whether documents use introspection. The documents are cached elsewhere. */
  readonly #asking = new WeakMap<DocumentNode, boolean>();

  constructor(schema: GraphQLSchema, introspection: Introspection) {
    this.#schema = schema;
    this.#introspection = introspection;
  }

  /** Without introspection, errors suggest no names either, because suggestions would reveal the schema step by step. */
  isShutTo({ principal }: OperationContext): boolean {
    return this.#introspection === 'off' || (this.#introspection === 'tokens' && principal === undefined);
  }

  /** Throws `unauthenticated`, or that introspection is off. */
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
