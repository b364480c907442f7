import { Random } from './random.ts';

// Some test files generate hundreds of cases. `CASES=all` runs all of them, as does CI unless it sets CASES to a number; other
// runs take a sample.

const { CI, CASES, MUTANTS_NOTES, SEED } = process.env;

/** Whether this run takes every generated case. Runs for mutants do, because their verdicts must not depend on chance. */
export const isWhole =
  CASES === 'all' || (CI !== undefined && CASES === undefined) || MUTANTS_NOTES !== undefined;

/** Determines the sample. Set `SEED=…` to repeat the sample of another run. */
export const seed = Number(SEED ?? Math.floor(Date.now() / 1000));

/** Returns all cases, or one in `oneOf` of each group and at least one of it, in their original order. */
export function sampled<Case>(
  cases: readonly Case[],
  oneOf: number,
  groupOf: (item: Case) => string,
): readonly Case[] {
  if (isWhole) return cases;
  const chosen = new Set(
    [...Map.groupBy(cases, groupOf)].flatMap(([name, group]) =>
      new Random(`${seed} ${name}`).sample(group, Math.ceil(group.length / oneOf)),
    ),
  );
  return cases.filter((item) => chosen.has(item));
}

/** Wraps the test of a sampled case, so that a failure tells which SEED repeats it. */
export function saysSeed<Args extends readonly unknown[]>(
  test: (...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await test(...args);
    } catch (error) {
      if (!isWhole) process.stdout.write(`SEED=${seed} takes the same sample again, CASES=all every case.\n`);
      throw error;
    }
  };
}
