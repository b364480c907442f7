import type { Context } from '../resolvers/context.ts';
import type { ScopedOperation } from './scope-rule.ts';
import { visitFields } from './selected-fields.ts';
import { perVariant } from './variants.ts';

/** A read for a field that must come before all other statements of the operation. Returns properties to add to the context. */
export type FirstRead = (context: Context) => Promise<Partial<Context>>;

const firstReadsOf = perVariant((scoped: ScopedOperation) => {
  const found = new Set<FirstRead>();
  visitFields(scoped, ({ extensions }) => {
    const { firstRead } = extensions as { firstRead?: FirstRead };
    if (firstRead) found.add(firstRead);
  });
  return [...found];
});

/** The context of an operation, with the data of the first reads that its fields need. */
export async function withFirstReads<Ctx extends Context>(
  scoped: ScopedOperation,
  context: Ctx,
): Promise<Ctx> {
  const reads = firstReadsOf(scoped);
  if (reads.length === 0) return context;
  const additions = await Promise.all(reads.map((read) => read(context)));
  return Object.assign({}, context, ...additions) as Ctx;
}
