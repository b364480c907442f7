import { Random } from '../../support/random.ts';

const seed = process.env.SEED ?? String(Date.now());
process.stderr.write(`SEED=${seed}\n`);

/** The random choices of a fault. `SEED=…` repeats them, but not how the processes take turns. */
export const chance = new Random(seed);
