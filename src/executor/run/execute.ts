import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Prepared } from '../../db/statements/prepared.ts';
import type { Context } from '../../resolvers/context.ts';
import { RootResults } from '../../schema/builder/root-results.ts';
import { type OperationCost, priceOperation } from '../cost/operation-cost.ts';
import { withSharedBounds } from '../cost/shared-bounds.ts';
import { answerCompiled } from '../compiled/run/executor.ts';
import type { RowRenderer } from '../compiled/writing/row-renderer.ts';
import { withFirstReads } from './first-reads.ts';
import { formatError, failsInBothExecutors, type Report } from '../answers/errors.ts';
import { type FallbackReport, refuseCostlyFallback, runFallback, reportFallback } from './fallbacks.ts';
import { executeOnce, type OperationResult } from '../answers/idempotent.ts';
import { answerFromSchema } from '../answers/schema-answers.ts';
import { withTextAllowance } from '../answers/text-allowance.ts';
import { defaultOperationCost } from '../limits.ts';
import { asksForSnapshot, inOneSnapshot } from './one-snapshot.ts';
import { withReplicaIfAllowed } from './replica-choice.ts';
import { isCovered, noteRun, positionBefore, type Revalidation } from '../answers/revalidation.ts';
import { type CoercedOperation, fragmentsOf } from '../selections/operation.ts';
import { checkScopes } from '../selections/scope-rule.ts';
import { checkWaits } from '../selections/waiting-rule.ts';
import { coerceVariables } from '../inputs/variables.ts';
import { thrownErrors } from '../invalid-request.ts';

/** The two executors, which give the same answers. */
export type ExecutorName = 'compiled' | 'graphql-js';

/** The answers of a subscription to some events. */
export interface EventAnswers {
  /** One JSON text for each event; fewer than the events if they would be too large together. */
  readonly texts: readonly string[];
  /** The number of objects in the answers. */
  readonly objects: number;
  /** Errors contain a request id, so answers with errors are not shared. */
  readonly hasErrors: boolean;
}

/** The context of an operation. `report` receives errors for the log, `charge` the number of objects that were returned. */
export type OperationContext = Context & {
  readonly report?: Report;
  readonly charge?: ((objects: number) => void) | undefined;
  /** The maximum cost of one operation. */
  readonly maxCost?: number;
  /** `compiled`, the default, leaves operations that it cannot answer to graphql-js. */
  readonly executor?: ExecutorName;
  /** Called when graphql-js answers an operation although the compiled executor is on. */
  readonly onFallback?: FallbackReport;
  /** Runs the operation as a part of the trace of its request; undefined where that is not traced. */
  readonly traced?:
    | (<Result>(operation: OperationDefinitionNode, run: () => Promise<Result>) => Promise<Result>)
    | undefined;
  /**
   * Runs `answer` once for all streams that may read the same data and pass equal `parts`, and gives each of them the result.
   * `parts` must identify everything that the answer depends on. Undefined outside of a stream.
   */
  readonly answerOnce?: (
    parts: readonly unknown[],
    answer: () => Promise<EventAnswers>,
  ) => Promise<EventAnswers>;
};

/** One operation to run, of a document that has been validated against the schema. */
interface OperationRequest {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
  context: OperationContext;
  /** The Idempotency-Key as the client sent it; ignored for queries. */
  idempotencyKey?: string | undefined;
  /** Whether the extensions of the result contain the requested and the actual cost. */
  reportCost?: boolean;
  /** `json` asks for the data as bytes, where the caller only sends them. */
  form?: 'data' | 'json';
  /** Writes some objects of the data as JSON. graphql-js and replays of kept results give values there. */
  rowRenderer?: RowRenderer | undefined;
  /** Set if the client has an earlier answer, which may still be right. */
  revalidation?: Revalidation | undefined;
}

/**
 * Runs one operation. It is refused as a whole, without `data`, if it cannot be chosen, its variables do not fit, scopes
 * are missing or it could cost too much. Errors are in the form that clients see.
 */
export async function executeOperation(request: OperationRequest): Promise<OperationResult> {
  const { requestId, report, traced } = request.context;
  const format = (error: unknown) => formatError(error, requestId, report);
  try {
    const operation = chooseOperation(request.document, request.operationName);
    const run = () => checkAndRun(request, operation, format);
    return await (traced ? traced(operation, run) : run());
  } catch (error) {
    return { errors: thrownErrors(error).map(format) };
  }
}

/** The result of the operation; throws where it is refused as a whole. */
async function checkAndRun(
  request: OperationRequest,
  operation: OperationDefinitionNode,
  format: (error: unknown) => GraphQLError,
): Promise<OperationResult> {
  const { document, schema } = request;
  requireRoot(schema, operation);
  const source = { schema, operation, fragments: fragmentsOf(document) };
  const coerced = { ...source, variables: coerceVariables(source, request.variables ?? {}) };
  checkScopes(coerced, request.context.principal);
  checkWaits(coerced);
  const maxCost = request.context.maxCost ?? defaultOperationCost;
  const cost = priceOperation(coerced, maxCost);
  const bounded = { ...request, context: withSharedBounds(coerced, request.context) };
  const { objects, ...result } = await runOperation(bounded, coerced, cost);
  if (request.revalidation?.unchanged) return result;
  const failure = result.errors?.find(failsInBothExecutors);
  if (failure && (operation.operation === OperationTypeNode.QUERY || isEmpty(result.data))) throw failure;
  const actual = objects ?? cost.count(result.data);
  request.context.charge?.(actual);
  return {
    ...result,
    ...(result.errors && { errors: result.errors.map(format) }),
    ...(request.reportCost && {
      extensions: { cost: { requested: cost.requested, actual, limit: maxCost } },
    }),
  };
}

/** Answers a query, from one snapshot if that was asked for, or does a mutation, once if it has a key. */
async function runOperation(
  request: OperationRequest,
  coerced: CoercedOperation,
  cost: OperationCost,
): Promise<OperationResult & { objects?: number }> {
  const { context, document, idempotencyKey: key, revalidation } = request;
  const answerIn = async (inside: OperationContext) =>
    answer({ ...request, context: await withFirstReads(coerced, inside) }, coerced, cost);
  if (asksForSnapshot(context, coerced.operation)) return answerFromSnapshot(request, coerced, cost);
  if (coerced.operation.operation !== OperationTypeNode.MUTATION) {
    const readContext = withReplicaIfAllowed(coerced, context);
    return revalidation
      ? answerUnlessUnchanged(revalidation, coerced, readContext, answerIn)
      : answerIn(readContext);
  }
  // The write is noted before it and after it, because another process may serve the next read before it hears of the end.
  context.onWrite?.();
  const writeContext = await withFirstReads(coerced, withReplicaIfAllowed(coerced, context));
  const result =
    key === undefined
      ? await answer({ ...request, context: writeContext }, coerced, cost)
      : await executeOnce({ ...coerced, document, key }, writeContext, (inside) =>
          answer({ ...request, context: inside, form: 'data', rowRenderer: undefined }, coerced, cost),
        );
  context.onWrite?.();
  return result;
}

/** Answers a query, unless the client has the answer that was given at the present position of the data. */
async function answerUnlessUnchanged(
  revalidation: Revalidation,
  coerced: CoercedOperation,
  context: OperationContext,
  answerIn: (inside: OperationContext) => Promise<OperationResult & { objects?: number }>,
): Promise<OperationResult & { objects?: number }> {
  const position = await positionBefore(coerced, context);
  if (position !== undefined && revalidation.useAnswerOf(position)) return {};
  const statements = new Set<Prepared>();
  const result = await answerIn({ ...context, statements });
  // Only the compiled executor counts the objects, and only its statements are known.
  if (result.objects === undefined) return result;
  noteRun(coerced, statements);
  if (position !== undefined && isCovered(statements)) revalidation.noteReusable(position);
  return result;
}

/** Whether no root field succeeded, so that no data has to be returned with the errors. */
function isEmpty(data: OperationResult['data']): boolean {
  return Object.values(data ?? {}).every((value) => value === null);
}

/** Answers with the compiled executor if possible, otherwise with graphql-js, which does not repeat finished root fields. */
async function answer(
  request: OperationRequest,
  coerced: CoercedOperation,
  cost: OperationCost,
): Promise<OperationResult & { objects?: number }> {
  const byGraphqlJs = (finished?: RootResults) =>
    withFallbackLimit(request, coerced.operation, (limited) => executeWithGraphqlJs(limited, finished));
  if (!cost.readsData && request.form === 'json' && coerced.operation.operation === OperationTypeNode.QUERY)
    return answerFromSchema(
      { ...coerced, document: request.document },
      (data) => cost.count(data),
      byGraphqlJs,
    );
  const compiled = mayCompile(request) ? await answerFromPlan(request, coerced, cost) : undefined;
  if (compiled && !(compiled instanceof RootResults)) return compiled;
  return byGraphqlJs(compiled);
}

/**
 * Answers a query from one snapshot. graphql-js begins with a new one: a query that waits for its permit must not hold a
 * connection, because others wait for a connection while they hold a permit. A query without a plan has usually taken none.
 */
async function answerFromSnapshot(
  request: OperationRequest,
  coerced: CoercedOperation,
  cost: OperationCost,
): Promise<ExecutionResult & { objects?: number }> {
  const read = <Result>(run: (inside: OperationRequest) => Promise<Result>) =>
    inOneSnapshot(request.context, async (inside) =>
      run({ ...request, context: await withFirstReads(coerced, inside) }),
    );
  const compiled = mayCompile(request)
    ? await read((inside) => answerFromPlan(inside, coerced, cost))
    : undefined;
  if (compiled && !(compiled instanceof RootResults)) return compiled;
  return withFallbackLimit(request, coerced.operation, () => read((inside) => executeWithGraphqlJs(inside)));
}

/** The compiled executor borrows connections, so it cannot run inside a transaction around the operation. */
function mayCompile({ context }: OperationRequest): boolean {
  return context.executor !== 'graphql-js' && context.connect !== undefined;
}

/** The answer of the compiled executor; where graphql-js has to answer, the finished root fields or undefined (`answerCompiled`). */
function answerFromPlan(
  { context, document, form = 'data', rowRenderer }: OperationRequest,
  coerced: CoercedOperation,
  cost: OperationCost,
) {
  const { operation } = coerced;
  return answerCompiled({ ...coerced, document }, context, { form, rowRenderer }, (reason) => {
    if (operation.operation === OperationTypeNode.QUERY) refuseCostlyFallback(reason, cost);
    reportFallback(reason, operation, context.onFallback);
  });
}

/** The answer of graphql-js. */
async function executeWithGraphqlJs(
  { context, schema, document, operationName, variables }: OperationRequest,
  finished?: RootResults,
): Promise<ExecutionResult> {
  return execute({
    schema,
    document,
    operationName,
    // graphql-js coerces the variables of the request itself.
    variableValues: variables,
    contextValue: withTextAllowance(context),
    rootValue: finished,
  });
}

/**
 * Limits how many queries graphql-js answers at once in place of the compiled executor. None of them waits for changes, because it
 * would keep others from being answered. A mutation is not limited: it may hold locks, and the connections that it needs bound
 * their number.
 */
function withFallbackLimit<Result>(
  request: OperationRequest,
  { operation }: OperationDefinitionNode,
  run: (limited: OperationRequest) => Promise<Result>,
): Promise<Result> {
  const { context } = request;
  if (context.executor === 'graphql-js' || operation !== OperationTypeNode.QUERY) return run(request);
  return runFallback(() => run({ ...request, context: { ...context, changes: undefined } }));
}

/** The operation that a request names; throws as graphql-js does. */
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

/** graphql-js would check this during execution, and answer `data: null` as if a field had failed. */
function requireRoot(schema: GraphQLSchema, { operation }: OperationDefinitionNode): void {
  if (!schema.getRootType(operation)) refuse(`The schema has no ${operation} operations.`);
}

function refuse(message: string): never {
  throw new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}
