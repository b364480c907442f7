import type { DocumentNode, GraphQLSchema } from 'graphql';
import { asksForSchema } from '../../executor/documents/introspection.ts';
import type { OperationContext } from '../../executor/run/execute.ts';
import { AppError } from '../../resolvers/errors.ts';
import type { Introspection } from '../config.ts';

/** Controls introspection: it is allowed for everybody, for callers with a token, or for nobody. */
export class SchemaAccess {
  readonly #schema: GraphQLSchema;
  readonly #introspection: Introspection;
  /** Whether documents use introspection. The documents are cached elsewhere. */
  readonly #usesIntrospection = new WeakMap<DocumentNode, boolean>();

  constructor(schema: GraphQLSchema, introspection: Introspection) {
    this.#schema = schema;
    this.#introspection = introspection;
  }

  /** Without introspection, errors suggest no names either, because suggestions would reveal the schema step by step. */
  isHiddenFrom({ principal }: OperationContext): boolean {
    return this.#introspection === 'off' || (this.#introspection === 'tokens' && principal === undefined);
  }

  /** Throws `unauthenticated` if introspection needs a token, and `graphql_validation_failed` if it is off. */
  check(document: DocumentNode, context: OperationContext): void {
    if (!this.isHiddenFrom(context) || !this.asksForSchema(document)) return;
    throw this.#introspection === 'off'
      ? new AppError('graphql_validation_failed', 'Introspection is switched off on this server.')
      : new AppError('unauthenticated', 'Introspection needs an access token on this server.');
  }

  /** Whether the document selects `__schema` or `__type`. */
  asksForSchema(document: DocumentNode): boolean {
    const asks = this.#usesIntrospection.get(document) ?? asksForSchema(this.#schema, document);
    this.#usesIntrospection.set(document, asks);
    return asks;
  }
}
