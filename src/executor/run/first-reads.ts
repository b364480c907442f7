import type { Context } from '../../resolvers/context.ts';
import { extensionsOf, type FirstRead } from '../../schema/builder/output-extensions.ts';
import type { CoercedOperation } from '../selections/operation.ts';
import { visitFields } from '../selections/selected-fields.ts';
import { perVariant } from '../selections/variants.ts';

const firstReadsOf = perVariant((coerced: CoercedOperation) => {
  const found = new Set<FirstRead>();
  visitFields(coerced, ({ field }) => {
    const { firstRead } = extensionsOf(field);
    if (firstRead) found.add(firstRead);
  });
  return [...found];
});

/** The context of an operation, with the data of the first reads that its fields need. */
export async function withFirstReads<Ctx extends Context>(
  coerced: CoercedOperation,
  context: Ctx,
): Promise<Ctx> {
  const reads = firstReadsOf(coerced);
  if (reads.length === 0) return context;
  const additions = await Promise.all(reads.map((read) => read(context)));
  return Object.assign({}, context, ...additions) as Ctx;
}
