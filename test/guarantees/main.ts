import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compared } from './compare.ts';
import { matrixCells, type Section, statedGuarantees, testNames } from './collect.ts';

// Prints what the tests guarantee, so that nothing is lost unnoticed when tests are changed:
//   npm run guarantees [-- --root <checkout>] [--tests] [--cells]
// `--tests` adds the names of all tests (a minute), `--cells` runs the matrices of test/security and adds their sizes.
// With --against, prints how the guarantees of this checkout differ from those of another checkout or of a file of an
// earlier output. The exit code is 1 when a guarantee of the other is missing.
const { values } = parseArgs({
  options: {
    root: { type: 'string', default: resolve(import.meta.dirname, '../..') },
    tests: { type: 'boolean', default: false },
    cells: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
});

const sections = await collect(values.root);
if (values.against === undefined) {
  process.stdout.write(printed(sections));
} else {
  const before = existsSync(resolve(values.against, 'package.json'))
    ? await collect(values.against)
    : parsed(readFileSync(values.against, 'utf8'));
  const { text, isComplete } = compared(before, sections);
  process.stdout.write(text);
  process.exitCode = isComplete ? 0 : 1;
}

async function collect(root: string): Promise<Section[]> {
  const path = resolve(root);
  return [
    ...(await statedGuarantees(path)),
    ...(values.cells ? [matrixCells(path)] : []),
    ...(values.tests ? [testNames(path)] : []),
  ];
}

function printed(all: readonly Section[]): string {
  return all
    .toSorted((one, other) => (one.title < other.title ? -1 : 1))
    .map(({ title, guarantees }) => {
      const lines = guarantees.map((guarantee) => `  ${JSON.stringify(guarantee).slice(1, -1)}\n`);
      return `${title}: ${guarantees.length}\n${lines.toSorted().join('')}`;
    })
    .join('');
}

/** Reads what `printed` wrote. */
function parsed(text: string): Section[] {
  return text
    .split(/^(?=\S)/m)
    .filter((section) => section !== '')
    .map((section) => {
      const [head = '', ...lines] = section.trimEnd().split('\n');
      return {
        title: head.replace(/: \d+$/, ''),
        guarantees: lines.map((line) => JSON.parse(`"${line.slice(2)}"`) as string),
      };
    });
}
