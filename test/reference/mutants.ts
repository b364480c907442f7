import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from './mutant-list.ts';

// Removes each safeguard of the reference data in memory once, in a copy of the repository, and runs the tests of
// this directory there, on the engine that TEST_DATABASE_URL names:
//   npm run mutants:reference -- [--match <pattern of the name>]
// The exit code is the number of survivors, or 100 if the tests fail without any change.
const { values: chosen } = parseArgs({ options: { match: { type: 'string', default: '' } } });
const root = resolve(import.meta.dirname, '../..');
const onPostgres = process.env.TEST_DATABASE_URL !== undefined;
const copy = mkdtempSync(join(tmpdir(), 'workgraph-reference-mutants-'));
process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));

const copied = [
  'src',
  'test',
  'migrations',
  'demo',
  'node_modules',
  'package.json',
  'jest.config.js',
  'openapi.json',
  'schema.graphql',
];
const selected = mutants.filter(
  ({ name, needsPostgres }) => new RegExp(chosen.match).test(name) && (onPostgres || !needsPostgres),
);
for (const mutant of selected) mutated(mutant);
for (const name of copied) spawnSync('cp', ['-al', join(root, name), join(copy, name)], { stdio: 'inherit' });
const failing = await failureOf([]);
if (failing !== undefined) process.stdout.write(`Fails without any mutant: ${failing}\n`);
process.exitCode = failing === undefined ? await judgeAll() : 100;

/** Prints for each safeguard which test failed, and returns the number of survivors. */
async function judgeAll(): Promise<number> {
  let survivors = 0;
  for (const mutant of selected) {
    const path = join(copy, mutant.file);
    // The file of the copy is a link to that of the repository until it is replaced.
    rmSync(path);
    writeFileSync(path, mutated(mutant));
    const failed = (await failureOf([mutant.by])) ?? (await failureOf([]));
    rmSync(path);
    cpSync(join(root, mutant.file), path);
    if (failed === undefined) survivors += 1;
    const verdict = failed === undefined ? 'SURVIVED' : `killed by ${failed}`;
    process.stdout.write(`${mutant.name} (${mutant.file})\n  ${verdict}\n`);
  }
  process.stdout.write(`${selected.length - survivors} of ${selected.length} were killed\n`);
  return survivors;
}

/** The source without the safeguard. */
function mutated({ name, file, from, to }: Mutant): string {
  const parts = readFileSync(join(root, file), 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${name}: the text occurs ${parts.length - 1} times in ${file}.`);
  return parts.join(to);
}

interface Outcome {
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** Returns the file and the name of the first test that fails. A run that ends without any result is an error. */
async function failureOf(files: readonly string[]): Promise<string | undefined> {
  const output = join(copy, 'outcome.json');
  rmSync(output, { force: true });
  const words = ['--silent', '--runInBand', '--json', `--outputFile=${output}`, '--testTimeout=120000'];
  const named = files.length > 0 ? files.map((file) => `test/reference/${file}.test.ts`) : ['test/reference'];
  const child = spawn('npm', ['test', '--', ...words, ...named], {
    cwd: copy,
    stdio: process.env.DEBUG ? 'inherit' : 'ignore',
  });
  await new Promise((ended) => child.once('exit', ended));
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Outcome;
  for (const { name, message, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) {
      if (process.env.DEBUG) process.stdout.write(`${failed.failureMessages.join('\n')}\n`);
      return `${name.slice(copy.length + 'test/reference/'.length + 1)}: ${failed.fullName}`;
    }
    if (assertionResults.length === 0) throw new Error(message);
  }
  return undefined;
}
