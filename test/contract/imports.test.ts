import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type Import, importsOf } from '../support/imports.ts';

const root = join(import.meta.dirname, '../..');

/** The layers, from the programs of others and the terminal down to the tables. A module imports its own layer or those to its right. */
const layers = [
  'client',
  'cli',
  'server',
  'live',
  'rest-compat',
  'executor',
  'schema',
  'portability',
  'resolvers',
  'reference',
  'db',
  'storage',
  'model',
];

const maxLines = 350;

const files = globSync(['src/**/*.ts', 'migrations/**/*.ts'], { cwd: root })
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const imports = files.flatMap(importsOf);
const fromSrc = imports.filter(({ path }) => path.startsWith('src/'));

// Each test collects all violations, so that one run shows all of them.

it('the tests below have modules and imports to check', () => {
  expect(files).not.toHaveLength(0);
  expect(imports).not.toHaveLength(0);
});

it(`every module belongs to a layer: ${layers.join(' → ')}`, () => {
  const misplaced = files.filter(({ path }) => path.startsWith('src/') && !layers.includes(layerOf(path)));
  expect(misplaced.map(({ path }) => path)).toEqual([]);
});

it('no module imports from a layer to the left of its own', () => {
  const leftward = fromSrc.filter(({ path, target }) => {
    return target.startsWith('src/') && layers.indexOf(layerOf(target)) < layers.indexOf(layerOf(path));
  });
  expect(leftward.map(line)).toEqual([]);
});

it('the client imports its own modules and packages, and nothing that only Node has', () => {
  const other = fromSrc.filter(({ path, target }) => {
    return layerOf(path) === 'client' && layerOf(target) !== 'client' && /^(?:node:|src\/|\.)/.test(target);
  });
  expect(other.map(line)).toEqual([]);
});

it('src imports no tests, benchmarks or tools', () => {
  const outside = fromSrc.filter(({ target }) => /^(\.\.|test|bench|codegen\.ts)(\/|$)/.test(target));
  expect(outside.map(line)).toEqual([]);
});

it('schema imports only types from db', () => {
  const values = fromSrc.filter(({ path, target, isTypeOnly }) => {
    return layerOf(path) === 'schema' && layerOf(target) === 'db' && !isTypeOnly;
  });
  expect(values.map(line)).toEqual([]);
});

it('rest-compat imports neither resolvers nor db', () => {
  const forbidden = fromSrc.filter(({ path, target }) => {
    return layerOf(path) === 'rest-compat' && ['resolvers', 'db'].includes(layerOf(target));
  });
  expect(forbidden.map(line)).toEqual([]);
});

it('model imports only types from other layers and from packages', () => {
  const values = imports.filter(({ path, target, isTypeOnly }) => {
    return layerOf(path) === 'model' && layerOf(target) !== 'model' && !isTypeOnly;
  });
  expect(values.map(line)).toEqual([]);
});

it('migrations import only kysely', () => {
  const other = imports.filter(({ path, target }) => path.startsWith('migrations/') && target !== 'kysely');
  expect(other.map(line)).toEqual([]);
});

it('serve checks settings and the data directory before it loads the rest of the program', () => {
  // citty parses arguments, and zod the settings. A second server on a data directory is refused before anything else is loaded.
  expect(packagesBehind('src/cli/main.ts')).toEqual(['citty']);
  expect(packagesBehind('src/cli/serve/serve.ts')).toEqual(['citty']);
  expect(packagesBehind('src/cli/serve/start.ts')).toEqual(['zod']);
});

it('a command that a running server answers loads neither a database engine nor a query builder', () => {
  expect(packagesBehind('src/cli/database-commands.ts')).toEqual(['citty']);
  expect(packagesBehind('src/cli/location/location.ts')).toEqual([]);
});

it('the server loads rarely used packages only when they are needed', () => {
  const packages = packagesBehind('src/cli/serve/run-server.ts');
  expect(packages).toEqual(expect.arrayContaining(['graphql', 'kysely']));
  for (const rare of ['graphql-yoga', 'ioredis', 'pino-pretty', 'prom-client', 'sharp', 'yaml'])
    expect(packages).not.toContain(rare);
});

it('there are no index.ts files except the list of the schema types', () => {
  const barrels = files.filter(({ path }) => path.endsWith('/index.ts') && path !== 'src/schema/index.ts');
  expect(barrels.map(({ path }) => path)).toEqual([]);
});

it(`no file is longer than ${maxLines} lines, except generated ones`, () => {
  const long = files
    .filter(({ path }) => !path.endsWith('.generated.ts'))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > maxLines);
  expect(long).toEqual([]);
});

/** The packages that are loaded with a module, directly or through other modules. */
function packagesBehind(module: string): string[] {
  const loaded = imports.filter(({ isTypeOnly, isDynamic }) => !isTypeOnly && !isDynamic);
  const seen = new Set([module]);
  // Iterating over a set includes what is added meanwhile.
  for (const path of seen)
    for (const { target } of loaded.filter((one) => one.path === path)) seen.add(target);
  return [...seen].filter((target) => !/^node:|\.(?:ts|json)$/.test(target)).toSorted();
}

/** 'db' for 'src/db/comments.ts'; the name of a file that is in no folder; '' outside src. */
function layerOf(path: string): string {
  return path.startsWith('src/') ? (path.split('/')[1] ?? '') : '';
}

function line({ path, target }: Import): string {
  return `${path} → ${target}`;
}
