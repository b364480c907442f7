import { getVariableValues, GraphQLError } from 'graphql';
import { longVariables } from './limits.ts';
import { checkInputs, type InputSource } from './operation-inputs.ts';

/** What is wrong with the variables of a request, as graphql-js words it. */
export class InvalidVariables extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The variables do not fit.');
    this.errors = errors;
  }
}

/**
 * The variables of an operation as its types have them. Throws InvalidVariables for values of the wrong type, and
 * before looking at those what `checkInputs` throws for values that are too large.
 */
export function coerceVariables(source: InputSource, inputs: Readonly<Record<string, unknown>>) {
  const characters = checkInputs(source, inputs);
  // The message of an error quotes the object that it is about, once for each of its fields.
  const maxErrors = characters > longVariables ? 1 : 50;
  const { schema, operation } = source;
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], inputs, {
    maxErrors,
  });
  if (errors) throw new InvalidVariables(errors.slice(0, maxErrors).map(asRequestError));
  return coerced;
}

/** A scalar's complaint is about the request, whatever was thrown; the wrapper's message holds it. */
function asRequestError({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}
