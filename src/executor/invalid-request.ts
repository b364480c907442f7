import type { GraphQLError } from 'graphql';

/** All errors of a document that does not fit the schema, or of variables that do not fit their types. */
export class InvalidRequest extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(message: string, errors: readonly GraphQLError[]) {
    super(message);
    this.errors = errors;
  }
}

/** The errors to report for what a request has thrown. */
export function thrownErrors(thrown: unknown): readonly unknown[] {
  return thrown instanceof InvalidRequest ? thrown.errors : [thrown];
}
