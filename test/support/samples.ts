import { Random } from './random.ts';

// Some test files generate hundreds of cases. `CASES=all` runs all of them, as does CI unless it sets CASES to a number; other
// runs take a sample.

const { CI, CASES, MUTANTS_NOTES, SEED } = process.env;

/** Whether this run takes every generated case. Runs for mutants do, because their verdicts must not depend on chance. */
export const isWhole =
  CASES === 'all' || (CI !== undefined && CASES === undefined) || MUTANTS_NOTES !== undefined;

/** Whether this run takes all generated cases of the suites that CI always runs completely, whatever CASES says. */
export const isWholeInCi: boolean = isWhole || CI !== undefined;

/** Determines the sample. Set `SEED=…` to repeat the sample of another run. */
export const seed = Number(SEED ?? Math.floor(Date.now() / 1000));

let usesRandom = false;

/** The source of the random choices of a test file. The runner adds the SEED that repeats them to a failure. */
export function randomOf(name: string): Random {
  usesRandom = true;
  return new Random(`${seed} ${name}`);
}

/** Returns all cases, or one in `oneOf` of each group and at least one of it, in their original order. */
export function sampled<Case>(
  cases: readonly Case[],
  oneOf: number,
  groupOf: (item: Case) => string,
): readonly Case[] {
  return isWhole ? cases : sampleOf(cases, oneOf, groupOf);
}

/** As `sampled`, for cases that are so few or so important that CI takes all of them with either executor. */
export function sampledOutsideCi<Case>(
  cases: readonly Case[],
  oneOf: number,
  groupOf: (item: Case) => string,
): readonly Case[] {
  return isWholeInCi ? cases : sampleOf(cases, oneOf, groupOf);
}

/** The executors with which a test file starts servers: both in CI, otherwise one of them. */
export function sampledExecutors(file: string): readonly string[] {
  return sampledOutsideCi(['compiled', 'graphql-js'], 2, () => `executors of ${file}`);
}

function sampleOf<Case>(
  cases: readonly Case[],
  oneOf: number,
  groupOf: (item: Case) => string,
): readonly Case[] {
  const sample = new Set(
    [...Map.groupBy(cases, groupOf)].flatMap(([name, group]) =>
      randomOf(name).sample(group, Math.ceil(group.length / oneOf)),
    ),
  );
  return cases.filter((item) => sample.has(item));
}

/** How to repeat the random choices since the last call, or undefined if there were none. */
export function takeHint(): string | undefined {
  const hint = usesRandom ? `SEED=${seed} repeats the random choices of this file.` : undefined;
  usesRandom = false;
  return hint;
}
