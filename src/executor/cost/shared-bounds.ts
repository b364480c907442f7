import { Loaders } from '../../db/reads/loaders.ts';
import { readBounds } from '../../db/query/read-bounds.ts';
import type { Context } from '../../resolvers/context.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { maxFullReads } from '../limits.ts';
import type { CoercedOperation } from '../selections/operation.ts';
import { perVariant } from '../selections/variants.ts';
import { type CostNode, costTree, isIncluded, leavesOf } from './tree.ts';

/**
 * The context of an operation whose lists, totals and statistics share what one operation may read: if there are too many of them
 * to read each within its full bounds, all of them get lower ones. Otherwise an operation of a low cost could read for longer than
 * a request may last.
 */
export function withSharedBounds<Ctx extends Context>(coerced: CoercedOperation, context: Ctx): Ctx {
  const share = shareOf(coerced);
  const { db, bounds } = context;
  if (share === 1 || !db) return context;
  const shared = readBounds(Math.ceil(bounds.maxRows * share));
  return { ...context, bounds: shared, loaders: new Loaders(db, shared) };
}

/** The share of its full bounds within which each list is read: a power of two, because each bound has its own prepared statements. */
const shareOf = perVariant((coerced: CoercedOperation) => {
  const reads = readsOf(costTree(coerced), coerced.variables);
  return 2 ** -Math.ceil(Math.log2(Math.max(1, reads / maxFullReads)));
});

/** What an operation reads within bounds, as a number of pages that would take as long. Pages of a list under many parents share one bound. */
function readsOf(nodes: readonly CostNode[], variables: Record<string, unknown>): number {
  let reads = 0;
  for (const node of nodes) {
    const included = node.occurrences.filter(({ conditions }) => isIncluded(conditions, variables));
    if (included.length === 0) continue;
    const isFiltered = included.some(({ node: { arguments: args = [] } }) =>
      args.some(({ name }) => name.value === 'filter'),
    );
    // The leaves of a connection are its total.
    if (node.isConnection && isFiltered) reads += leavesOf(node, variables) > 0 ? 2 : 1;
    reads += Math.max(...included.map(({ field }) => extensionsOf(field).readsLikePages ?? 0));
    reads += readsOf(node.below, variables);
  }
  return reads;
}
