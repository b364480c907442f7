import {
  type ASTNode,
  type DocumentNode,
  execute,
  type FieldNode,
  getArgumentValues,
  type GraphQLSchema,
  Kind,
} from 'graphql';
import { withMeter, meter } from '../../db/engine/meter.ts';
import { ReadAllowance } from '../../db/engine/read-allowance.ts';
import { readNewestCursor } from '../../resolvers/changes/changes.ts';
import type { PageTest } from '../../reference/page-test.ts';
import { raise } from '../../resolvers/errors.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import type { StreamEvent } from '../../schema/builder/plan.ts';
import { answerEventsCompiled } from '../compiled/run/executor.ts';
import { type OperationCost, priceOperation } from '../cost/operation-cost.ts';
import { documentNumber } from '../documents/number.ts';
import { formatError, isAnswerTooLarge, failsInBothExecutors } from '../answers/errors.ts';
import { chooseOperation, type EventAnswers, type OperationContext } from './execute.ts';
import { runFallback, reportFallback } from './fallbacks.ts';
import { withFirstReads } from './first-reads.ts';
import { withTextAllowance } from '../answers/text-allowance.ts';
import { defaultOperationCost, eventsPerOperation, maxAnswerBytes } from '../limits.ts';
import { asksForSnapshot } from './one-snapshot.ts';
import { type CoercedOperation, fragmentsOf } from '../selections/operation.ts';
import { checkScopes } from '../selections/scope-rule.ts';
import { coerceVariables } from '../inputs/variables.ts';
import { dependsOnViewer } from '../selections/viewer-fields.ts';
import { visitNodes } from '../documents/visit-nodes.ts';

/** A subscription of a document that has been validated against the schema. */
export interface SubscriptionRequest {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
}

/** The answer for one event as JSON, and the cursor from which to continue after it. */
interface AnsweredEvent {
  readonly cursor: string;
  readonly json: string;
}

/** The events of a subscription after a cursor. */
interface AnsweredEvents {
  readonly events: readonly AnsweredEvent[];
  readonly cursor: string;
  readonly hasMore: boolean;
  /** The objects of the answers, which are to be charged to each client that gets them. */
  readonly objects: number;
  /** Errors contain a request id, so answers with errors are not shared. */
  readonly hasErrors: boolean;
}

/** A subscription that may be read, again and again. */
interface OpenSubscription {
  /** The cursor to begin after, if the arguments name one. */
  readonly after: string | undefined;
  /** Whether the answers are the same for all tokens of a tenant with the same scopes and role. */
  readonly isShared: boolean;
  /** The coerced variables. */
  readonly variables: Record<string, unknown>;
  /** Answers for the events after a cursor. Checks the scopes of the context again; throws the error with which the stream must end. */
  readonly read: (context: OperationContext, after: string) => Promise<AnsweredEvents>;
  /** Tells, without a statement, whether there are events; undefined if only `read` can. */
  readonly pageTest: () => PageTest | undefined;
}

/**
 * Checks a subscription as `executeOperation` checks an operation. `eventsPerOperation` events may cost as much as one
 * operation. Throws AppErrors, GraphQLErrors and InvalidRequests.
 */
export function openSubscription(request: SubscriptionRequest, context: OperationContext): OpenSubscription {
  const { schema, document, operationName } = request;
  const operation = chooseOperation(document, operationName);
  asksForSnapshot(context, operation);
  const source = { schema, operation, fragments: fragmentsOf(document) };
  const coerced = { ...source, variables: coerceVariables(source, request.variables ?? {}) };
  checkScopes(coerced, context.principal);
  const cost = priceOperation(coerced, (context.maxCost ?? defaultOperationCost) / eventsPerOperation);
  const { plan, args, selection } = rootOfStream(coerced);
  const isShared = !dependsOnViewer(coerced);
  const sharedKey = isShared ? selectionKey(request, coerced, selection) : undefined;
  const { after } = args;
  return {
    after: typeof after === 'string' && after !== '' ? after : undefined,
    isShared,
    variables: coerced.variables,
    pageTest: () => plan.pageTest(context, args),
    read: async (readContext, cursor) => {
      checkScopes(coerced, readContext.principal);
      const page = await plan.read(readContext, args, cursor);
      const none = { cursor: page.cursor, hasMore: page.hasMore, objects: 0, hasErrors: false };
      if (page.isReset)
        return { ...none, events: [{ cursor: page.cursor, json: resetMessage(selection, page.cursor) }] };
      if (page.events.length === 0) return { ...none, events: [] };
      const answer = () => answersThatFit(request, coerced, cost, readContext, page.events);
      const parts = [sharedKey, ...page.events.map(({ identity }) => identity)];
      const { texts, objects, hasErrors } = await (sharedKey === undefined
        ? answer()
        : sharedOrOwnAnswer(readContext, parts, answer));
      const isIncomplete = texts.length < page.events.length;
      const events = texts.map((json, index) => ({
        json,
        cursor: page.events[index]?.cursor ?? page.cursor,
      }));
      const end = (isIncomplete && events.at(-1)?.cursor) || page.cursor;
      return { events, cursor: end, hasMore: isIncomplete || page.hasMore, objects, hasErrors };
    },
  };
}

/** The cursor of the newest change, from which a stream without a cursor starts. */
export async function newestCursor(context: OperationContext): Promise<string> {
  const { changeCursor } = await readNewestCursor(context);
  return changeCursor ?? raise('internal_error', 'The cursor of the newest change was not read.');
}

/**
 * The message that makes a client read its list again, because its changes are not sent. The field is null rather than `data`,
 * because Apollo Client drops answers that have neither data nor errors.
 */
function resetMessage({ alias, name }: FieldNode, cursor: string): string {
  return JSON.stringify({ data: { [(alias ?? name).value]: null }, extensions: { reset: true, cursor } });
}

/** The only root field of a subscription, and its arguments. Validation ensures that there is exactly one. */
function rootOfStream({ schema, operation, fragments, variables }: CoercedOperation) {
  let [selection] = operation.selectionSet.selections;
  while (selection && selection.kind !== Kind.FIELD) {
    const { selectionSet } =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : (fragments.get(selection.name.value) ?? raise('graphql_validation_failed', 'Unknown fragment.'));
    [selection] = selectionSet.selections;
  }
  const field = selection && schema.getSubscriptionType()?.getFields()[selection.name.value];
  const plan = field && extensionsOf(field).plan;
  if (!field || !selection || plan?.kind !== 'events')
    return raise('graphql_validation_failed', 'A subscription selects one field.');
  return { plan, args: getArgumentValues(field, selection, variables), selection };
}

/** The answer that is shared with other streams. If it has errors, the stream gets its own, because errors contain a request id. */
async function sharedOrOwnAnswer(
  { answerOnce }: OperationContext,
  parts: readonly unknown[],
  answer: () => Promise<EventAnswers>,
): Promise<EventAnswers> {
  const shared = await answerOnce?.(parts, answer);
  return shared && !shared.hasErrors ? shared : answer();
}

/** A key of everything but the event on which an answer depends: the document, and the variables outside of the root field's arguments. */
function selectionKey(
  { document }: SubscriptionRequest,
  { operation, fragments, variables }: CoercedOperation,
  root: FieldNode,
): string {
  const ofArguments = new Set<ASTNode>();
  for (const argument of root.arguments ?? []) visitNodes(argument, (node) => ofArguments.add(node));
  const used: Record<string, unknown> = {};
  for (const part of [operation.selectionSet, ...fragments.values()]) {
    visitNodes(part, (node) => {
      if (node.kind !== Kind.VARIABLE || ofArguments.has(node)) return;
      used[node.name.value] = variables[node.name.value];
    });
  }
  return JSON.stringify([documentNumber(document), operation.name?.value, used]);
}

/** Answers for as many of the events as fit into one answer, at least for the first. */
async function answersThatFit(
  request: SubscriptionRequest,
  coerced: CoercedOperation,
  cost: OperationCost,
  outer: OperationContext,
  events: readonly StreamEvent[],
): Promise<EventAnswers> {
  const context = await withFirstReads(coerced, outer);
  for (let count = events.length; ; count = Math.ceil(count / 2)) {
    const some = events.slice(0, count);
    try {
      return await withMeter(() => executeForEvents(request, coerced, cost, context, some), {
        ...meter(),
        allowance: new ReadAllowance(maxAnswerBytes),
      });
    } catch (error) {
      if (count === 1 || !isAnswerTooLarge(error)) throw error;
    }
  }
}

async function executeForEvents(
  { schema, document, operationName, variables }: SubscriptionRequest,
  coerced: CoercedOperation,
  cost: OperationCost,
  context: OperationContext,
  events: readonly StreamEvent[],
): Promise<EventAnswers> {
  if (context.executor !== 'graphql-js') {
    const rows = events.map(({ event }) => event);
    const answered = await answerEventsCompiled({ ...coerced, document }, context, rows, (reason) =>
      reportFallback(reason, coerced.operation, context.onFallback),
    );
    if (answered) return { ...answered, hasErrors: false };
  }
  // The answers are sent together, so they are limited together.
  const contextValue = withTextAllowance(context);
  const one = async ({ event }: StreamEvent) =>
    execute({
      schema,
      document,
      operationName,
      // graphql-js coerces the variables of the request itself.
      variableValues: variables,
      contextValue,
      rootValue: { event },
    });
  const all = () => Promise.all(events.map(one));
  const results = await (context.executor === 'graphql-js' ? all() : runFallback(all));
  const failure = results.flatMap(({ errors = [] }) => errors).find(failsInBothExecutors);
  if (failure) throw failure;
  const texts = results.map(({ data, errors }) =>
    JSON.stringify({
      ...(errors && { errors: errors.map((each) => formatError(each, context.requestId, context.report)) }),
      data,
    }),
  );
  return {
    texts,
    objects: results.reduce((sum, { data }) => sum + cost.count(data), 0),
    hasErrors: results.some(({ errors }) => errors !== undefined),
  };
}
