import { type DocumentNode, OperationTypeNode } from 'graphql';
import { meter } from '../../../db/engine/meter.ts';
import type { ReadServer } from '../../../db/engine/replicas.ts';
import type { Snapshot } from '../../../reference/snapshot.ts';
import type { Context } from '../../../resolvers/context.ts';
import { NeedsTransaction } from '../../../resolvers/writes/keyed-write.ts';
import { RootResults } from '../../../schema/builder/root-results.ts';
import { failsInBothExecutors, isOutage } from '../../answers/errors.ts';
import type { CoercedOperation } from '../../selections/operation.ts';
import { EventLoopTurns } from '../../run/event-loop-turns.ts';
import { perVariant } from '../../selections/variants.ts';
import { compileOperation } from '../compile/compile.ts';
import { type Frame, newFrame, NotCompilable, type Row } from './frame.ts';
import { checkAnswerSize } from '../writing/answer-size.ts';
import { JsonWriter, type WrittenAnswer } from '../writing/json-writer.ts';
import { ObjectPlan } from '../compile/objects.ts';
import { compileRowRenderer, type RowRenderer } from '../writing/row-renderer.ts';
import { type AnswerForm, MissingReference, Run, type RunOptions } from './run.ts';

/** An operation with its document, which is valid. */
export interface Compilable extends CoercedOperation {
  readonly document: DocumentNode;
}

/** An answer as JSON, or its data as values, and the number of its objects. */
type CompiledAnswer = { objects: number } & ({ json: WrittenAnswer } | { data: Record<string, unknown> });

/** The form of the answer, and what renders certain objects in an answer of values. */
interface AnswerOptions {
  readonly form: AnswerForm;
  readonly rowRenderer: RowRenderer | undefined;
}

/** Counters since the start of this process, for the metrics. */
export const compiledCounts = {
  /** Operations that this executor answered. */
  answered: 0,
  /** Operations that it left to graphql-js, because a field has no plan. */
  notCompilable: 0,
  /** Operations that it left to graphql-js while it ran them. */
  bailed: 0,
  /** Lookups of a plan that was cached. */
  planHits: 0,
  /** Lookups of a plan that had to be compiled. */
  planMisses: 0,
};

/**
 * Answers an operation from its plan, level by level, with one statement for all rows of a level. Fields without a plan and
 * all errors are left to graphql-js, which formats errors as GraphQL requires: then this returns undefined, or the results of
 * the root fields so far. For a query, it throws errors that would only occur again: the data store does not answer, or the
 * answer is too large.
 */
export async function answerCompiled(
  compilable: Compilable,
  context: Context,
  { form, rowRenderer }: AnswerOptions,
  onFallback: (reason: unknown) => void,
): Promise<CompiledAnswer | RootResults | undefined> {
  const plan = planOf(compilable);
  if (plan instanceof NotCompilable) {
    compiledCounts.notCompilable += 1;
    onFallback(plan);
    return undefined;
  }
  const results = new RootResults();
  try {
    const options = { form, rowRenderer: rowRenderer && compileRowRenderer(rowRenderer, plan), results };
    const data = await runPlan(compilable, context, options, (run) => answer(plan, run, form));
    compiledCounts.answered += 1;
    return data;
  } catch (error) {
    if (error instanceof NeedsTransaction) throw error;
    if (failsInBothExecutors(error) && compilable.operation.operation === OperationTypeNode.QUERY)
      throw error;
    compiledCounts.bailed += 1;
    onFallback(error);
    return results;
  }
}

/**
 * Answers a subscription for each of these events from its plan, with one statement for all rows of a level. Undefined where
 * graphql-js has to answer, as for `answerCompiled`.
 */
export async function answerEventsCompiled(
  compilable: Compilable,
  context: Context,
  events: readonly object[],
  onFallback: (reason: unknown) => void,
): Promise<{ texts: string[]; objects: number } | undefined> {
  const plan = planOf(compilable);
  if (plan instanceof NotCompilable) {
    onFallback(plan);
    return undefined;
  }
  try {
    const options = { form: 'json', rowRenderer: undefined, results: new RootResults() } as const;
    return await runPlan(compilable, context, options, (run) => answerEvents(plan, run, events));
  } catch (error) {
    if (failsInBothExecutors(error)) throw error;
    onFallback(error);
    return undefined;
  }
}

/**
 * Whether the answer of an operation needs nothing but what its only write returns and reference data. The length of such an
 * answer is bounded.
 */
export function showsOnlyWritten(compilable: Compilable): boolean {
  const plan = planOf(compilable);
  return plan instanceof ObjectPlan && plan.showsOnlyWritten;
}

/** Runs the plan on the replica of the request if it has one, and on the primary if it has none or the replica fails. */
async function runPlan<Result>(
  compilable: Compilable,
  context: Context,
  options: CommonOptions,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { replica } = context;
  if (replica) {
    try {
      return await runOn(replica, compilable, context, options, work);
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
  }
  return runOn(undefined, compilable, context, options, work);
}

/** The options that all runs of an operation have in common. */
type CommonOptions = Pick<RunOptions, 'form' | 'rowRenderer' | 'results'>;

/** Runs the plan, and once more with new reference data if the cached data turns out to be older than a row that refers to it. */
async function runOn<Result>(
  replica: ReadServer | undefined,
  { variables }: Compilable,
  context: Context,
  options: CommonOptions,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { reference } = context;
  const cached = reference?.current();
  const snapshot = cached instanceof Promise ? await cached : cached;
  const first = new Run(context, variables, {
    cached: snapshot,
    replica: replicaFor(replica, snapshot),
    acceptsMissing: false,
    ...options,
  });
  try {
    return await work(first);
  } catch (error) {
    if (!(error instanceof MissingReference)) throw error;
    first.end();
    const renewed = await reference?.renewed();
    const again = new Run(context, variables, {
      cached: renewed,
      replica: replicaFor(replica, renewed),
      acceptsMissing: true,
      ...options,
    });
    return await work(again);
  }
}

/** The replica; undefined if its rows may be older than the cached reference data, or if no reference data is cached. */
function replicaFor(replica: ReadServer | undefined, cached: Snapshot | undefined): ReadServer | undefined {
  if (!replica || !cached?.isCached || !replica.hasCommitsBefore(cached.readMs)) return undefined;
  replica.countQuery();
  return replica;
}

async function answerEvents(plan: ObjectPlan, run: Run, events: readonly object[]) {
  const root = newFrame(run, events as readonly Row[], []);
  try {
    await plan.fetch(root, run);
    const turns = new EventLoopTurns();
    const texts: string[] = [];
    let size = 0;
    for (const row of events.keys()) {
      const wait = turns.next();
      if (wait) await wait;
      const { bytes, release } = writeAnswer(plan, root, row);
      size += bytes.length;
      texts.push(bytes.toString());
      release();
      // The answers are sent together.
      checkAnswerSize(size);
    }
    run.release();
    // The roots are not objects of the answers.
    return { texts, objects: run.objects - events.length };
  } finally {
    run.end();
  }
}

async function answer(plan: ObjectPlan, run: Run, form: AnswerForm): Promise<CompiledAnswer> {
  const root = newFrame(run, [{}], []);
  try {
    await plan.fetch(root, run);
    // A mutation may hold locks.
    if (!plan.isSerial) await waitToWrite(run);
    const turns = new EventLoopTurns();
    const data = form === 'json' ? { json: writeAnswer(plan, root) } : { data: answerValues(plan, root) };
    run.release();
    // If this took long, other requests get a turn of the event loop before the caller works with the values.
    const wait = turns.next();
    if (wait) await wait;
    // The root is not an object of the answer.
    return { ...data, objects: run.objects - 1 };
  } finally {
    run.end();
  }
}

/** A larger answer takes several milliseconds to write. */
const largeAnswerBytes = 524_288;

/** Waits until a large answer may be written: many of them, one after another, would keep all other requests waiting. */
async function waitToWrite({ context }: Run): Promise<void> {
  const bytes = meter()?.allowance?.spentBytes ?? 0;
  // Writing takes a tenth of the time of reading a body of the same size.
  if (bytes > largeAnswerBytes) await context.turn?.(Math.ceil(bytes / 10));
}

function writeAnswer(plan: ObjectPlan, root: Frame, row = 0): WrittenAnswer {
  const out = new JsonWriter();
  out.bytes(dataPrefix);
  plan.write(out, root, row);
  out.byte(closingBrace);
  return out.finish();
}

const dataPrefix = Buffer.from('{"data":');
const closingBrace = 0x7d;

function answerValues(plan: ObjectPlan, root: Frame): Record<string, unknown> {
  const { value } = root.run.written((out) => plan.write(out, root, 0));
  // The root writes an object.
  return value as Record<string, unknown>;
}

/** Returns the plan of an operation, or the reason why it has none. Counts whether the plan was cached. */
function planOf(compilable: Compilable): ObjectPlan | NotCompilable {
  const misses = compiledCounts.planMisses;
  const plan = cachedPlan(compilable);
  if (misses === compiledCounts.planMisses) compiledCounts.planHits += 1;
  return plan;
}

const cachedPlan = perVariant(({ schema, operation, fragments, variables }: Compilable) => {
  compiledCounts.planMisses += 1;
  try {
    return compileOperation(schema, operation, fragments, variables);
  } catch (error) {
    if (error instanceof NotCompilable) return error;
    throw error;
  }
});
