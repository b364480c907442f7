import { join, relative } from 'node:path';
import { loadedBy } from './imports.ts';

/** Modules that make a test slow: a database engine, the server, another process, a browser. */
const slow: readonly string[] = [
  'src/db/engine/engine.ts',
  'src/server/server.ts',
  'node:child_process',
  'playwright-core',
];

const root = join(import.meta.dirname, '../..');
const loaded = loadedBy(root);

/** Whether a test file, by its path from the root, loads none of the slow modules, directly or indirectly. */
export function isFast(path: string): boolean {
  const modules = loaded(path);
  return slow.every((module) => !modules.has(module));
}

/** Selects the fast test files from a list of absolute paths. */
export function pickFast(paths: readonly string[]): { filtered: string[] } {
  return { filtered: paths.filter((path) => isFast(relative(root, path))) };
}

// Jest loads its filter (`--filter` in `npm run test:fast`) with `require`, and expects a function.
export { pickFast as 'module.exports' };
