import { getVariableValues, GraphQLError } from 'graphql';
import { InvalidRequest } from '../invalid-request.ts';
import { longVariables } from '../limits.ts';
import type { Operation } from '../selections/operation.ts';
import { checkInputs } from './operation-inputs.ts';

/**
 * Coerces the variables of an operation. Throws the errors of `checkInputs` for values that are too large, and otherwise
 * an InvalidRequest for values of the wrong type, with the messages of graphql-js.
 */
export function coerceVariables(source: Operation, inputs: Readonly<Record<string, unknown>>) {
  const characters = checkInputs(source, inputs);
  // Each error of an object quotes the whole object, so many errors of a large one would be very long. Suggesting a
  // name compares an unknown one with all that exist, which takes long if it is long.
  const areLong = characters > longVariables;
  const maxErrors = areLong ? 1 : 50;
  const { schema, operation } = source;
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], inputs, {
    maxErrors,
    hideSuggestions: areLong,
  });
  if (errors)
    throw new InvalidRequest('The variables do not fit.', errors.slice(0, maxErrors).map(asRequestError));
  return coerced;
}

/** The error without its original error, which may be anything that a scalar threw; the message contains its text already. */
function asRequestError({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}
