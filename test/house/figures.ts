import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

// `npm run figures [CHECKOUT…]` prints figures about the source of other checkouts and then of this one: the
// table "Target state" of the rebuild, from which docs/decisions/ quotes.
const here = join(import.meta.dirname, '../..');
const checkouts = [...process.argv.slice(2).map((path) => resolve(path)), here];

interface Measure {
  readonly name: string;
  readonly of: (checkout: string) => string;
}

const layers = ['src/db', 'src/resolvers', 'src/schema', 'src/server'];

const measures: readonly Measure[] = [
  {
    name: 'files that name `dueDate`, generated ones and the demo aside',
    of: (checkout) => count(handWritten(checkout).filter((file) => names(checkout, file, 'dueDate'))),
  },
  { name: 'compile errors when the table of issues alone gets a column', of: errorsOfNewColumn },
  {
    name: 'files with a statement that inserts or updates an issue',
    of: (checkout) =>
      count(
        handWritten(checkout).filter((file) =>
          /(?:insertInto|updateTable)\('issue'\)/.test(textOf(checkout, file)),
        ),
      ),
  },
  {
    name: '`resolve` of fields in the schema',
    of: (checkout) =>
      String(
        handWritten(checkout)
          .filter((file) => file.startsWith('src/schema/'))
          .reduce(
            (sum, file) => sum + [...textOf(checkout, file).matchAll(/\bresolve: (?:async )?\(/g)].length,
            0,
          ),
      ),
  },
  {
    name: 'hand-written lines of src, the demo aside',
    of: (checkout) =>
      handWritten(checkout)
        .reduce((sum, file) => sum + textOf(checkout, file).split('\n').length - 1, 0)
        .toLocaleString('en'),
  },
  {
    name: `files directly in ${layers.join(', ')}`,
    of: (checkout) =>
      layers.map((layer) => tracked(checkout).filter((file) => dirname(file) === layer).length).join(', '),
  },
  {
    name: 'files in the largest folder of src',
    of: (checkout) => {
      const sizes = new Map<string, number>();
      for (const file of handWritten(checkout)) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
      const [[folder, size] = ['', 0]] = [...sizes].toSorted(([, one], [, other]) => other - one);
      return `${size} (${folder})`;
    },
  },
];

for (const { name, of } of measures) {
  process.stdout.write(`${name}\n`);
  for (const checkout of checkouts) process.stdout.write(`  ${basename(checkout)}: ${of(checkout)}\n`);
}

function tracked(checkout: string): string[] {
  const options = { cwd: checkout, encoding: 'utf8' } as const;
  return execFileSync('git', ['ls-files', 'src'], options).trim().split('\n');
}

function handWritten(checkout: string): string[] {
  return tracked(checkout).filter(
    (file) =>
      /\.(?:ts|graphql)$/.test(file) && !file.includes('.generated.') && !file.startsWith('src/cli/demo'),
  );
}

function textOf(checkout: string, file: string): string {
  return readFileSync(join(checkout, file), 'utf8');
}

function names(checkout: string, file: string, word: string): boolean {
  return new RegExp(String.raw`\b${word}\b`).test(textOf(checkout, file));
}

function count(files: readonly string[]): string {
  return String(files.length);
}

/** Adds a column to the type of the table in a copy, and returns the places that the compiler reports. */
function errorsOfNewColumn(checkout: string): string {
  const table = tracked(checkout).find((file) => /interface IssueTable \{/.test(textOf(checkout, file)));
  if (table === undefined) throw new Error(`There is no IssueTable in ${checkout}.`);
  const copy = mkdtempSync(join(tmpdir(), 'workgraph-figures-'));
  try {
    for (const part of ['src', 'migrations', 'package.json', 'tsconfig.json'])
      cpSync(join(checkout, part), join(copy, part), { recursive: true });
    symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
    const path = join(copy, table);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/interface IssueTable \{/, '$&\n  severity: string;'),
    );
    const include = ['--noEmit', '-p', copy];
    const { stdout } = spawnSync(join(here, 'node_modules/.bin/tsc'), include, { encoding: 'utf8' });
    const errors = stdout.split('\n').filter((line) => /error TS/.test(line));
    return `${errors.length}${errors[0] ? `, the first: ${errors[0].slice(0, 160)}` : ''}`;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
