import { join, resolve } from 'node:path';

/** The checkout of the product that is measured: `BENCH_PRODUCT`, by default this one. */
export const repository = resolve(process.env['BENCH_PRODUCT'] ?? join(import.meta.dirname, '..'));

/** An earlier checkout of the product that takes part in the run: `BENCH_BEFORE`. */
export const before = process.env['BENCH_BEFORE'] ? resolve(process.env['BENCH_BEFORE']) : undefined;
