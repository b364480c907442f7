import { join, resolve } from 'node:path';

/** The checkout of the product that is measured: this one, unless another is named. */
export const repository = resolve(process.env['BENCH_PRODUCT'] ?? join(import.meta.dirname, '..'));
