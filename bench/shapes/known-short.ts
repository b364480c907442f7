import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JudgedRead } from './judge.ts';

// The pages that end early are listed in the repository, by the number of issues, so that a review shows which pages a change makes shorter.

const fileOf = (issues: number) => join(import.meta.dirname, 'short', `${issues}.txt`);

export function writeKnownShort(issues: number, short: readonly JudgedRead[]): void {
  const file = fileOf(issues);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    short
      .map(({ name }) => `${name}\n`)
      .toSorted()
      .join(''),
  );
}

/** The pages that end early now, and are not in the list. None if there is no list for this number of issues. */
export function newlyShort(issues: number, short: readonly JudgedRead[]): JudgedRead[] {
  const file = fileOf(issues);
  if (!existsSync(file)) return [];
  const known = new Set(readFileSync(file, 'utf8').split('\n'));
  return short.filter(({ name }) => !known.has(name));
}
