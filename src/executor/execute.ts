import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Context } from '../resolvers/context.ts';
import { RootResults } from '../schema/builder/root-results.ts';
import { type OperationCost, priceOperation } from './cost.ts';
import { answerCompiled } from './compiled/executor.ts';
import { formatError, isFinal, type Report } from './errors.ts';
import { type FallbackReport, refuseCostlyFallback, runFallback, tellFallback } from './fallbacks.ts';
import { executeOnce, type OperationResult } from './idempotent.ts';
import { defaultOperationCost } from './limits.ts';
import { checkScopes, type ScopedOperation } from './scope-rule.ts';
import { coerceVariables, InvalidVariables } from './variables.ts';

/** The two ways to run an operation, which give the same answers. */
export type ExecutorName = 'compiled' | 'graphql-js';

/** What an operation runs with; `report` hears of errors that were masked, `charge` of the objects that came back. */
export type OperationContext = Context & {
  readonly report?: Report;
  readonly charge?: ((objects: number) => void) | undefined;
  /** The most that one operation may cost. */
  readonly maxCost?: number;
  /** `reference` is graphql-js for all; else operations are compiled where they can be. */
  readonly executor?: ExecutorName;
  readonly fellBack?: FallbackReport;
};

/** One operation to run, of a document that has been validated against the schema. */
export interface OperationRequest {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
  context: OperationContext;
  /** As the client sent it. A query takes none and needs none, so one that comes along is not looked at. */
  idempotencyKey?: string | undefined;
  /** Shall the result say in its extensions what the operation could have cost, and what it did. */
  reportCost?: boolean;
  /** `json` lets the data of the result be written already, for a face that only sends it. */
  form?: 'data' | 'json';
}

/**
 * Runs one operation, after refusing it whole if it cannot be chosen, its variables do not fit, scopes are
 * missing or it could cost too much: then the result has no `data`. Errors are ready to be shown; the unexpected are masked.
 */
export async function executeOperation(request: OperationRequest): Promise<OperationResult> {
  const { context } = request;
  const format = (error: unknown) => formatError(error, context.requestId, context.report);
  try {
    const { document, schema, operationName } = request;
    const operation = chooseOperation(document, operationName);
    requireRoot(schema, operation);
    const source = { schema, operation, fragments: fragmentsOf(document) };
    const scoped = { ...source, variables: coerceVariables(source, request.variables ?? {}) };
    checkScopes(scoped, context.principal);
    const maxCost = context.maxCost ?? defaultOperationCost;
    const cost = priceOperation(scoped, maxCost);
    const key = operation.operation === OperationTypeNode.MUTATION ? request.idempotencyKey : undefined;
    const { objects, ...result }: OperationResult & { objects?: number } =
      key === undefined
        ? await answer(request, scoped, cost)
        : await executeOnce({ ...scoped, document, key }, context, (inside) =>
            answer({ ...request, context: inside }, scoped, cost),
          );
    const failure = result.errors?.find(isFinal);
    if (failure && (operation.operation === OperationTypeNode.QUERY || isEmpty(result.data))) throw failure;
    const actual = objects ?? cost.count(result.data);
    context.charge?.(actual);
    return {
      ...result,
      ...(result.errors && { errors: result.errors.map(format) }),
      ...(request.reportCost && {
        extensions: { cost: { requested: cost.requested, actual, limit: maxCost } },
      }),
    };
  } catch (error) {
    const errors = error instanceof InvalidVariables ? error.errors : [error];
    return { errors: errors.map(format) };
  }
}

/** Has nothing been written that the errors stand beside. */
function isEmpty(data: OperationResult['data']): boolean {
  return Object.values(data ?? {}).every((value) => value === null);
}

/** Answers by the compiled executor where that can, else by graphql-js, which goes on from what is done already. */
async function answer(
  request: OperationRequest,
  scoped: ScopedOperation & { variables: Record<string, unknown> },
  cost: OperationCost,
): Promise<ExecutionResult & { objects?: number }> {
  const { context, schema, document, operationName, variables, form = 'data' } = request;
  const { operation } = scoped;
  // Prepared statements go out on connections of their own, and never within a transaction round the operation.
  const mayCompile = context.executor !== 'graphql-js' && context.connect !== undefined;
  const answered =
    mayCompile &&
    (await answerCompiled({ ...scoped, document }, context, form, (reason) => {
      if (operation.operation === OperationTypeNode.QUERY) refuseCostlyFallback(reason, cost);
      tellFallback(reason, operation, context.fellBack);
    }));
  if (answered && !(answered instanceof RootResults)) return answered;
  return bounded(request, operation, async () =>
    execute({
      schema,
      document,
      operationName,
      // graphql-js coerces for itself, from what came in.
      variableValues: variables,
      contextValue: context,
      rootValue: answered || undefined,
    }),
  );
}

/**
 * Of what graphql-js answers for want of a plan, so much runs at once. A mutation does not wait: it may hold locks, and
 * what it does is bounded by the connections that it needs.
 */
function bounded<Result>(
  { context }: OperationRequest,
  { operation }: OperationDefinitionNode,
  run: () => Promise<Result>,
): Promise<Result> {
  const isFallback = context.executor !== 'graphql-js' && operation === OperationTypeNode.QUERY;
  return isFallback ? runFallback(run) : run();
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

/** graphql-js finds this out only while it executes, and answers `data: null` as if a field had failed. */
function requireRoot(schema: GraphQLSchema, { operation }: OperationDefinitionNode): void {
  if (!schema.getRootType(operation)) refuse(`The schema has no ${operation} operations.`);
}

function refuse(message: string): never {
  throw new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}

export function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  let known = fragmentsByDocument.get(document);
  if (!known) {
    const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
    known = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
    fragmentsByDocument.set(document, known);
  }
  return known;
}

const fragmentsByDocument = new WeakMap<DocumentNode, ReadonlyMap<string, FragmentDefinitionNode>>();
