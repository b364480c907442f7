import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { testsFor } from './bites.ts';
import { findMutants, type Mutant } from './find.ts';

// Takes each guard of the source away once, in a copy, and runs the tests that should miss it:
//   npm run mutants -- [--list] [--only tenant|scope|limit|check] [--match <part of the name>] [--shard 1/8]
//                      [--minutes 10]
// A mutant that no test misses is a survivor; the exit code is their number.
const { values: chosen } = parseArgs({
  options: {
    list: { type: 'boolean' },
    only: { type: 'string' },
    match: { type: 'string' },
    shard: { type: 'string', default: '1/1' },
    /** How long the tests of one mutant may take; one that ends in a loop counts as killed. */
    minutes: { type: 'string', default: '10' },
  },
});
const root = resolve(import.meta.dirname, '../..');
const [shard = 1, shards = 1] = chosen.shard.split('/').map(Number);
const mutants = findMutants(root)
  .filter(({ kind, name }) => (!chosen.only || kind === chosen.only) && name.includes(chosen.match ?? ''))
  .filter((_mutant, place) => place % shards === shard - 1);

if (chosen.list) for (const { name } of mutants) process.stdout.write(`${name}\n`);
else await runAll();

async function runAll(): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'workgraph-mutants-'));
  try {
    for (const name of ['src', 'test', 'migrations', 'docs', 'bin', 'bench'])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    for (const name of ['package.json', 'jest.config.js', 'schema.graphql', 'openapi.json', 'codegen.ts'])
      cpSync(join(root, name), join(copy, name));
    await ended(spawn('cp', ['-al', join(root, 'node_modules'), join(copy, 'node_modules')]));
    const survivors: string[] = [];
    for (const mutant of mutants) {
      const verdict = await isKilled(copy, mutant);
      process.stdout.write(`${verdict.padEnd(9)}${mutant.name}\n`);
      if (verdict === 'survived') survivors.push(mutant.name);
    }
    process.stdout.write(`\n${mutants.length} mutants, ${survivors.length} survived\n`);
    process.exitCode = Math.min(survivors.length, 100);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function isKilled(copy: string, mutant: Mutant): Promise<'killed' | 'survived' | 'timed out'> {
  const file = join(copy, mutant.file);
  const text = readFileSync(file, 'utf8');
  // A file of its own, not the link to the one that it was copied from.
  writeFileSync(file, text.slice(0, mutant.start) + mutant.put + text.slice(mutant.end));
  try {
    for (const tests of testsFor(mutant)) {
      const args = ['test', '--', '--maxWorkers=1', '--bail=1', '--silent', tests];
      const test = spawn('npm', args, { cwd: copy, stdio: 'ignore', detached: true });
      const late = setTimeout(
        () => process.kill(-(test.pid ?? 0), 'SIGKILL'),
        Number(chosen.minutes) * 60_000,
      );
      const code = await ended(test);
      clearTimeout(late);
      if (code === null) return 'timed out';
      if (code !== 0) return 'killed';
    }
    return 'survived';
  } finally {
    writeFileSync(file, text);
  }
}

function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolveCode) => child.once('exit', (code) => resolveCode(code)));
}
