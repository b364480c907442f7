import { join, resolve } from 'node:path';

/** The checkout of the product that is measured: `BENCH_PRODUCT`, by default this one. */
export const repository = resolve(process.env['BENCH_PRODUCT'] ?? join(import.meta.dirname, '..'));
