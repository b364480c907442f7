import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as finding from '../mutants/find.ts';

/** One kind of guarantee, and the name of every guarantee of that kind. */
export interface Section {
  readonly title: string;
  readonly guarantees: readonly string[];
}

/** Reads the guarantees that the files of a checkout state, without running any of its code except its mutant finder. */
export async function statedGuarantees(root: string): Promise<Section[]> {
  return [
    ...(await guardSections(root)),
    { title: 'mutants of the reference data', guarantees: referenceMutants(root) },
    { title: 'statement budgets', guarantees: statementBudgets(root) },
    { title: 'rules that `workgraph verify` checks', guarantees: verifyRules(root) },
    { title: 'faults', guarantees: faults(root) },
  ];
}

/** Collects the names of all tests. No test and no hook runs, but every test file is loaded. */
export function testNames(root: string): Section {
  const { testResults } = runJest(root, ['--testNamePattern', '(?!)']);
  const failed = testResults.filter(({ assertionResults }) => assertionResults.length === 0);
  if (failed.length > 0)
    throw new Error(`No tests were found in ${failed.map(({ name, message }) => name + message).join('\n')}`);
  return {
    title: 'tests',
    guarantees: testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName }) => `${relative(root, name)}: ${fullName}`),
    ),
  };
}

const matrices = [
  'isolation',
  'isolation-writes',
  'managers-only',
  'scope-matrix',
  'signed-addresses',
  'tenant-filters',
];

/** Runs the matrices of test/security and collects the numbers of cells that they print. */
export function matrixCells(root: string): Section {
  const { output } = runJest(
    root,
    matrices.map((name) => `test/security/${name}.test.ts`),
  );
  const lines = output.matchAll(/The matrix of [^\n]+ cells\.|\d+ statements, \d+ ways [^\n]+/g);
  return { title: 'cells of the matrices', guarantees: Array.from(lines, ([line]) => line) };
}

interface Results {
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

function runJest(root: string, args: readonly string[]): Results & { output: string } {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-guarantees-'));
  try {
    const file = join(directory, 'results.json');
    const command = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    const jest = [join(root, 'node_modules/jest/bin/jest.js'), '--json', `--outputFile=${file}`, ...args];
    const { stderr } = spawnSync(process.execPath, [...command, ...jest], {
      cwd: root,
      // Otherwise chance would decide which generated cases are among the tests.
      env: { ...process.env, CASES: 'all' },
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    });
    if (!existsSync(file)) throw new Error(`jest failed: ${stderr}`);
    const results = JSON.parse(readFileSync(file, 'utf8')) as Results;
    const failed = results.testResults.flatMap(({ assertionResults }) =>
      assertionResults.flatMap(({ fullName, status }) => (status === 'failed' ? [fullName] : [])),
    );
    if (failed.length > 0) throw new Error(`Tests failed: ${failed.join('; ')}`);
    return { ...results, output: stderr };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** One section for each kind of guard and verdict, such as "tenant guards, killed". */
async function guardSections(root: string): Promise<Section[]> {
  const finder = pathToFileURL(join(root, 'test/mutants/find.ts')).href;
  const { findMutants } = (await import(finder)) as typeof finding;
  const verdicts = JSON.parse(read(root, 'test/mutants/verdicts.json')) as Record<string, string | string[]>;
  const sections = Object.groupBy(
    findMutants(root),
    ({ kind, guard }) => `${kind} guards, ${verdictOf(verdicts[guard])}`,
  );
  return Object.entries(sections).map(([title, guards = []]) => ({
    title,
    // A guard keeps its name when its file moves.
    guarantees: guards.map(({ guard, kind, file }) => guard.replace(`${kind} ${file} `, '')),
  }));
}

function verdictOf(verdict: string | string[] | undefined): string {
  if (verdict === undefined) return 'without a verdict';
  if (typeof verdict !== 'string') return 'survived';
  return verdict.includes('(timed out)') ? 'killed by a time-out' : 'killed';
}

function referenceMutants(root: string): string[] {
  return ['test/reference/mutant-list.ts', 'test/reference/mutants-in-memory.ts'].flatMap((file) =>
    Array.from(read(root, file).matchAll(/^\s+name: (['"`])(.+)\1,$/gm), ([, , name = '']) => name),
  );
}

function statementBudgets(root: string): string[] {
  const budgets = JSON.parse(read(root, 'test/graph/statement-budgets.json')) as Record<string, number[]>;
  return Object.entries(budgets).map(([query, statements]) => `${query} ${JSON.stringify(statements)}`);
}

function verifyRules(root: string): string[] {
  // The events of the feed state the rules that follow from them.
  return globSync('src/**/{verify/*,events}.ts', { cwd: root }).flatMap((file) =>
    Array.from(
      read(root, file).matchAll(/^\s+(?:name|rule):\s+(['"`])(.+)\1,$/gm),
      ([, , name = '']) => name,
    ),
  );
}

function faults(root: string): string[] {
  return globSync('test/faults/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('main.ts'))
    .map((file) => file.replace(/^.*\/(.+)\.ts$/, '$1'));
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
