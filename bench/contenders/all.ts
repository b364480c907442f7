import type { Contender } from './contender.ts';
import { limit } from './limit.ts';
import { mercurius, plain } from './plain.ts';
import { postgraphile } from './postgraphile.ts';
import { product } from './product.ts';
import { sofa } from './sofa.ts';

/** All contenders, in the order of a round. Ratios are relative to LIMIT. */
export const contenders: readonly Contender[] = [product, limit, postgraphile, mercurius, plain, sofa];
