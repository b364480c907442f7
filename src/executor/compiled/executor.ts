import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Context } from '../../resolvers/context.ts';
import { RootResults } from '../../schema/builder/root-results.ts';
import { isFinal } from '../errors.ts';
import { Turns } from '../turns.ts';
import { perVariant } from '../variants.ts';
import { compileOperation } from './compile.ts';
import { type Frame, newFrame, NotCompilable } from './frame.ts';
import { JsonWriter, type WrittenAnswer } from './json-writer.ts';
import type { ObjectPlan } from './objects.ts';
import { type CompiledRowForm, compileRowForm, type RowForm } from './row-form.ts';
import { type AnswerForm, MissingReference, Run } from './run.ts';

/** An operation of a document that was validated, with its variables coerced. */
export interface Compilable {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Readonly<Record<string, unknown>>;
}

/** An answer in the form that its face needs: written as JSON, or its data as values to be read. */
type Answered = { objects: number } & ({ json: WrittenAnswer } | { data: Record<string, unknown> });

/** What a face wants: the form of the answer, and the form of some objects in an answer of values. */
interface Wanted {
  readonly form: AnswerForm;
  readonly rows: RowForm | undefined;
}

/**
 * How often operations were answered here, how often they had to go to the graphql-js executor and why, and how often
 * a plan was there already.
 */
export const compiledCounts = { answered: 0, notCompilable: 0, bailed: 0, planHits: 0, planMisses: 0 };

/**
 * Answers an operation from its plan, level by level, each level by set-based statements. Where the graphql-js executor
 * has to, for what has no plan, and for every error, which only that one words as GraphQL does, it gives what the roots
 * have done so far. Throws, of a query, what the graphql-js executor would only meet again: that the
 * data store does not answer, or that the answer is too large.
 */
export async function answerCompiled(
  compilable: Compilable,
  context: Context,
  { form, rows }: Wanted,
  onFallback: (reason: unknown) => void,
): Promise<Answered | RootResults | undefined> {
  const misses = compiledCounts.planMisses;
  const plan = planOf(compilable);
  if (misses === compiledCounts.planMisses) compiledCounts.planHits += 1;
  if (plan instanceof NotCompilable) {
    compiledCounts.notCompilable += 1;
    onFallback(plan);
    return undefined;
  }
  const results = new RootResults();
  try {
    const data = await runPlan(plan, compilable, context, {
      form,
      rowForm: rows && compileRowForm(rows, plan),
      results,
    });
    compiledCounts.answered += 1;
    return data;
  } catch (error) {
    if (isFinal(error) && compilable.operation.operation === OperationTypeNode.QUERY) throw error;
    compiledCounts.bailed += 1;
    onFallback(error);
    return results;
  }
}

/** Runs once more where the cached reference data turns out to be older than what refers to them. */
async function runPlan(
  plan: ObjectPlan,
  { variables }: Compilable,
  context: Context,
  how: { form: AnswerForm; rowForm: CompiledRowForm | undefined; results: RootResults },
): Promise<Answered> {
  const { reference } = context;
  const cached = reference?.current();
  const first = new Run(context, variables, {
    cached: cached instanceof Promise ? await cached : cached,
    acceptsMissing: false,
    ...how,
  });
  try {
    return await answer(plan, first, how.form);
  } catch (error) {
    if (!(error instanceof MissingReference)) throw error;
    first.end();
    const renewed = await reference?.renewed();
    const again = new Run(context, variables, {
      cached: renewed,
      acceptsMissing: true,
      ...how,
    });
    return await answer(plan, again, how.form);
  }
}

async function answer(plan: ObjectPlan, run: Run, form: AnswerForm): Promise<Answered> {
  const root = newFrame(run, [{}], []);
  try {
    await plan.fetch(root, run);
    const turns = new Turns();
    const data = form === 'json' ? { json: written(plan, root) } : { data: values(plan, root) };
    run.release();
    // The face goes on with values that took long to make.
    const wait = turns.next();
    if (wait) await wait;
    // The root is no object that came back.
    return { ...data, objects: run.objects - 1 };
  } finally {
    run.end();
  }
}

function written(plan: ObjectPlan, root: Frame): WrittenAnswer {
  const out = new JsonWriter();
  out.bytes(dataHead);
  plan.write(out, root, 0);
  out.byte(closingBrace);
  return out.finish();
}

const dataHead = Buffer.from('{"data":');
const closingBrace = 0x7d;

function values(plan: ObjectPlan, root: Frame): Record<string, unknown> {
  const { value } = root.run.written((out) => plan.write(out, root, 0));
  // An object plan writes one object.
  return value as Record<string, unknown>;
}

/** What an operation was compiled to, or why it cannot be. */
const planOf = perVariant(({ schema, operation, fragments, variables }: Compilable) => {
  compiledCounts.planMisses += 1;
  try {
    return compileOperation(schema, operation, fragments, variables);
  } catch (error) {
    if (error instanceof NotCompilable) return error;
    throw error;
  }
});
