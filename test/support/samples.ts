import { Random } from './random.ts';

// Where a file walks hundreds of generated cases, CI tries all of them, as `CASES=all` does. Any other run takes a part.

const { CI, CASES, MUTANTS_NOTES, SEED } = process.env;

/** Whether this run tries every generated case; chance must not decide which mutants are found. */
export const isWhole = CI !== undefined || CASES === 'all' || MUTANTS_NOTES !== undefined;

/** Decides which part a run takes: `SEED=…` takes the part of another run once more. */
export const seed = Number(SEED ?? Math.floor(Date.now() / 1000));

/** All cases, or one of so many, in their order; of each group at least one. Each group has a chance of its own. */
export function sampled<Case>(
  cases: readonly Case[],
  oneOf: number,
  groupOf: (one: Case) => string,
): readonly Case[] {
  if (isWhole) return cases;
  const chosen = new Set(
    [...Map.groupBy(cases, groupOf)].flatMap(([name, group]) =>
      new Random(`${seed} ${name}`).sample(group, Math.ceil(group.length / oneOf)),
    ),
  );
  return cases.filter((one) => chosen.has(one));
}

/** The test of a sampled case: one that fails says how to take the same part again. */
export function saysSeed<Given extends readonly unknown[]>(
  test: (...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    try {
      await test(...given);
    } catch (error) {
      if (!isWhole) process.stdout.write(`SEED=${seed} takes the same sample again, CASES=all every case.\n`);
      throw error;
    }
  };
}
