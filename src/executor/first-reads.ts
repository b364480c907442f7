import type { Context } from '../resolvers/context.ts';
import type { ScopedOperation } from './scope-rule.ts';
import { visitFields } from './selected-fields.ts';
import { perVariant } from './variants.ts';

/** What a field needs to be read before any other statement of the operation is sent. Returns what the context gets by it. */
export type FirstRead = (context: Context) => Promise<Partial<Context>>;

const firstReadsOf = perVariant((scoped: ScopedOperation) => {
  const found = new Set<FirstRead>();
  visitFields(scoped, ({ extensions }) => {
    const { firstRead } = extensions as { firstRead?: FirstRead };
    if (firstRead) found.add(firstRead);
  });
  return [...found];
});

/** The context of an operation, with the data that its fields need read in advance. */
export async function withFirstReads<Ctx extends Context>(
  scoped: ScopedOperation,
  context: Ctx,
): Promise<Ctx> {
  const reads = firstReadsOf(scoped);
  if (reads.length === 0) return context;
  const gained = await Promise.all(reads.map((read) => read(context)));
  return Object.assign({}, context, ...gained) as Ctx;
}
