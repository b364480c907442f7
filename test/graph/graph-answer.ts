import type { ExecutionResult } from 'graphql';
import type { Answer } from '../support/app.ts';

/** An answer to a GraphQL operation. */
export type GraphAnswer = Answer<ExecutionResult<Record<string, unknown>>>;

/** Returns the data of an answer, and throws if it has errors. */
export function dataOf({ body }: GraphAnswer): Record<string, unknown> {
  if (body.errors || !body.data) throw new Error(`Refused: ${JSON.stringify(body.errors, null, 2)}`);
  return body.data;
}

/** The codes of the errors of an answer. */
export function codesOf({ body }: GraphAnswer): unknown[] {
  return (body.errors ?? []).map(({ extensions }) => extensions?.code);
}
