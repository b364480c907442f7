import type { DocumentNode, FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Context } from '../../resolvers/context.ts';
import { compileOperation } from './compile.ts';
import { newFrame, NotCompilable } from './frame.ts';
import type { ObjectPlan } from './objects.ts';
import { Run } from './run.ts';
import { conditionVariables } from './selection.ts';

/** An operation of a document that was validated, with its variables coerced. */
export interface Compilable {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Readonly<Record<string, unknown>>;
}

/** The data of an answer in the form that its face needs: written as JSON, or as values to be read. */
type Answered = { objects: number } & ({ json: string } | { data: Record<string, unknown> });

/**
 * How often operations were answered here, how often they had to go to the reference executor and why, and how often
 * a plan was there already.
 */
export const compiledCounts = { answered: 0, notCompilable: 0, bailed: 0, planHits: 0, planMisses: 0 };

/** Plans of one document, by operation and by what is cut from it; null where it cannot be compiled. */
interface DocumentPlans {
  conditions: readonly string[];
  plans: Map<string, ObjectPlan | null>;
}

const maxPlansOfDocument = 32;
const documents = new WeakMap<DocumentNode, DocumentPlans>();

/**
 * Answers a query from its plan, level by level, each level by set-based statements; undefined when the reference
 * executor has to: for what has no plan, and for every error, which only that one words as GraphQL does.
 */
export async function answerCompiled(
  compilable: Compilable,
  context: Context,
  form: 'json' | 'data',
): Promise<Answered | undefined> {
  const plan = planOf(compilable);
  if (!plan) {
    compiledCounts.notCompilable += 1;
    return undefined;
  }
  const run = new Run(context, compilable.variables);
  const root = newFrame(run, [{}], []);
  try {
    await plan.fetch(root, run);
    const answered = form === 'json' ? { json: plan.text(root, 0) } : { data: plan.value(root, 0) };
    compiledCounts.answered += 1;
    // The root is no object that came back.
    return { ...answered, objects: run.objects - 1 };
  } catch {
    compiledCounts.bailed += 1;
    return undefined;
  } finally {
    run.end();
  }
}

function planOf(compilable: Compilable): ObjectPlan | undefined {
  const { document, operation, variables } = compilable;
  let known = documents.get(document);
  if (!known) {
    known = { conditions: conditionVariables(document), plans: new Map() };
    documents.set(document, known);
  }
  const cuts = known.conditions.map((name) => String(variables[name]));
  const key = `${operation.name?.value ?? ''} ${cuts.join(' ')}`;
  let plan = known.plans.get(key);
  if (plan !== undefined) compiledCounts.planHits += 1;
  else {
    compiledCounts.planMisses += 1;
    plan = compiled(compilable);
    if (known.plans.size >= maxPlansOfDocument) known.plans.clear();
    known.plans.set(key, plan);
  }
  return plan ?? undefined;
}

function compiled({ schema, operation, fragments, variables }: Compilable): ObjectPlan | null {
  try {
    return compileOperation(schema, operation, fragments, variables);
  } catch (error) {
    if (error instanceof NotCompilable) return null;
    throw error;
  }
}
