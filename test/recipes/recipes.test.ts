import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Copy } from './copy.ts';
import { edited, readRecipes } from './recipe.ts';
import { hasServer } from '../db/engines.ts';

const root = join(import.meta.dirname, '../..');
const recipes = readRecipes(root);

/** How many files the common changes may need. */
const maxFiles: Readonly<Record<string, number>> = {
  'A stored field of an issue': 3,
  'A stored field of a directory': 5,
  'A read-only directory': 6,
  'A resource under an issue': 12,
  'A REST route': 5,
  'A mutation': 4,
  'A command': 3,
};

it('CONTRIBUTING.md has seven recipes, each with steps and with a request whose answer it gives', () => {
  expect(recipes.map(({ title }) => title)).toEqual(Object.keys(maxFiles));
  for (const { steps, trials } of recipes) {
    expect(steps).not.toHaveLength(0);
    expect(trials.filter(({ answer }) => answer)).not.toHaveLength(0);
  }
});

it.each(recipes)('$title: needs no more files than it should', ({ title, steps }) => {
  const paths = new Set(steps.map(({ path }) => path));
  expect(paths.size).toBe(steps.length);
  expect(paths.size).toBeLessThanOrEqual(maxFiles[title] ?? 0);
});

it.each(recipes)('$title: each step finds its place in the source as it is now', ({ steps }) => {
  for (const { path, edits } of steps) {
    const file = join(root, path);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    expect(() => edited(path, before, edits)).not.toThrow();
  }
});

// The server of the copy has the embedded database, whatever the other tests run on.
const onEmbedded = hasServer ? describe.skip : describe;

onEmbedded('in a copy of the repository to which all recipes were applied', () => {
  let copy: Copy;

  beforeAll(() => {
    copy = new Copy();
    for (const recipe of recipes) copy.apply(recipe);
  });
  afterAll(() => copy.remove());

  it('the generated files can be made', () => {
    expect(() => copy.run('npm', 'run', 'generate')).not.toThrow();
  });

  it('the types fit', () => {
    // Several threads check some of the same types each.
    expect(() => copy.run('npm', 'run', 'typecheck', '--', '--singleThreaded')).not.toThrow();
  });

  it('a server answers every request of every recipe as the recipe says', () => {
    const answers = JSON.parse(copy.run(process.execPath, 'test/recipes/ask.ts')) as Record<
      string,
      unknown[]
    >;
    for (const { title, trials } of recipes) {
      for (const [index, { text, answer }] of trials.entries())
        if (answer) expect({ text, answer: answers[title]?.[index] }).toMatchObject({ text, answer });
    }
  });
});
