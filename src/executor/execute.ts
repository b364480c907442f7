import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FragmentDefinitionNode,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Context } from '../resolvers/context.ts';
import { answerCompiled } from './compiled/executor.ts';
import { formatError, type Report } from './errors.ts';
import { checkScopes } from './scope-rule.ts';

/** What an operation runs with; `report` hears of errors that were masked. */
export type OperationContext = Context & { readonly report?: Report };

/** One operation to run, of a document that has been validated against the schema. */
export interface OperationRequest {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
  context: OperationContext;
  executor?: 'compiled' | 'reference';
}

/**
 * Runs one operation, after refusing it whole if it cannot be chosen, its variables do not fit or scopes are
 * missing: then the result has no `data`. Errors are ready to be shown; the unexpected are masked.
 */
export async function executeOperation(request: OperationRequest): Promise<ExecutionResult> {
  const { context } = request;
  const format = (error: unknown) => formatError(error, context.requestId, context.report);
  try {
    const { document, schema, operationName } = request;
    const operation = chooseOperation(document, operationName);
    const variables = coerceVariables(schema, operation, request.variables ?? {});
    const fragments = fragmentsOf(document);
    checkScopes({ schema, operation, fragments, variables }, context.principal);
    if (request.executor !== 'reference' && operation.operation === OperationTypeNode.QUERY) {
      const answered = await answerCompiled(
        { schema, document, operation, fragments, variables },
        context,
        'data',
      );
      if (answered && 'data' in answered) return answered;
    }
    const result = await execute({
      schema,
      document,
      operationName,
      // graphql-js coerces for itself, from what came in.
      variableValues: request.variables,
      contextValue: context,
    });
    return result.errors ? { ...result, errors: result.errors.map(format) } : result;
  } catch (error) {
    const errors = error instanceof InvalidVariables ? error.errors : [error];
    return { errors: errors.map(format) };
  }
}

/** The operation that a request means, or the error that graphql-js would give. */
export function chooseOperation(
  document: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operationName != null) {
    const named = operations.find(({ name }) => name?.value === operationName);
    return named ?? refuse(`Unknown operation named "${operationName}".`);
  }
  const [operation, second] = operations;
  if (second) refuse('Must provide operation name if query contains multiple operations.');
  return operation ?? refuse('Must provide an operation.');
}

class InvalidVariables extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The variables do not fit.');
    this.errors = errors;
  }
}

function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  inputs: Record<string, unknown>,
) {
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], inputs, {
    maxErrors: 50,
  });
  if (errors) throw new InvalidVariables(errors.map(asRequestError));
  return coerced;
}

/** A scalar's complaint is about the request, whatever was thrown; the wrapper's message holds it. */
function asRequestError({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}

function refuse(message: string): never {
  throw new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}

function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}
