import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { allowSharing } from './shared-app.ts';
import { hasTemplate, templateCache } from './template-paths.ts';

/** The maximum space that all test files need at the same time, for copies of databases and large files. */
const roomBytes = 6e9;

/** Gives the run a name, which marks its databases on a PostgreSQL server. Workers inherit it. */
export default function setup({ filter }: { readonly filter?: string }): void {
  process.env.WORKGRAPH_TEST_RUN = randomUUID().slice(0, 8);
  if (!process.env.TMPDIR && hasRoom('/dev/shm')) {
    process.env.TMPDIR = process.env.WORKGRAPH_TEST_MEMORY = mkdtempSync(join('/dev/shm', 'workgraph-run-'));
  }
  // By default the compile cache is in TMPDIR, which is new in each run, so each run would compile all modules again.
  process.env.NODE_COMPILE_CACHE ??= join(templateCache, 'compiled');
  watchFallbacks();
  if (!process.env.MUTANTS_NOTES) allowSharing();
  // The fast tests, which a filter chooses, need no database.
  if (!process.env.TEST_DATABASE_URL && !filter) makeTemplateAhead();
}

/** Starts making a missing template while jest still loads the first test file. */
function makeTemplateAhead(): void {
  if (hasTemplate('migrated')) return;
  const script = join(import.meta.dirname, 'make-template.ts');
  spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], { stdio: 'ignore' }).unref();
}

/** Every Node process that a test starts reports its fallbacks to this folder; `fallback-watch.ts` reads it. */
function watchFallbacks(): void {
  process.env.WORKGRAPH_TEST_FALLBACKS = mkdtempSync(join(tmpdir(), 'workgraph-fallbacks-'));
  const reporter = pathToFileURL(join(import.meta.dirname, 'fallback-reporter.js'));
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${reporter.href}`.trim();
}

/** Whether memory has room for the databases: each test file copies hundreds of files, which takes long on a disk. */
function hasRoom(memory: string): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= roomBytes;
}
