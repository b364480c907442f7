import type { Contender } from './contender.ts';
import { limit } from './limit.ts';
import { mercurius, plain } from './plain.ts';
import { postgraphile } from './postgraphile.ts';
import { previous, product, traced, twin } from './product.ts';
import { sofa } from './sofa.ts';

/**
 * All contenders, in the order in which they start and take turns. Ratios are relative to LIMIT. The earlier checkout
 * starts first, before the product migrates the database further.
 */
export const contenders: readonly Contender[] = [
  ...previous,
  product,
  twin,
  traced,
  limit,
  postgraphile,
  mercurius,
  plain,
  sofa,
];
