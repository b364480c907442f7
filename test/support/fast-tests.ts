import { join, relative } from 'node:path';
import { loadedBy } from './imports.ts';

/** What a test must not be able to load to be fast: a database engine, the server, another process, a browser. */
const slow: readonly string[] = [
  'src/db/engine/engine.ts',
  'src/server/server.ts',
  'node:child_process',
  'playwright-core',
];

const root = join(import.meta.dirname, '../..');
const loaded = loadedBy(root);

/** Whether a test file, given relative to the root, can load nothing that a fast test does without. */
export function isFast(path: string): boolean {
  const modules = loaded(path);
  return slow.every((module) => !modules.has(module));
}

/** Picks the fast ones among the absolute paths of test files. */
export function pickFast(paths: readonly string[]): { filtered: string[] } {
  return { filtered: paths.filter((path) => isFast(relative(root, path))) };
}

// Jest loads its filter (`--filter` in `npm run test:fast`) with `require`, and expects a function.
export { pickFast as 'module.exports' };
