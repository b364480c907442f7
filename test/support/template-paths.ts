import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadedBy } from './imports.ts';

/** The content of a new database: only the tables, the demo workspace of today, or that of the day of the examples. */
export type Content = 'migrated' | 'demo' | 'examples';

/** The content of a template of an embedded database. The other templates start from `empty`. */
export type TemplateContent = Content | 'empty';

const root = join(import.meta.dirname, '../..');

/** Templates are cached between runs, under names that contain a hash of their sources. */
export const templateCache: string = join(root, 'node_modules/.cache/workgraph-test');

/** The path of the template of an embedded database, whether it exists yet or not. */
export function templateOf(content: TemplateContent): string {
  // The demo ends on the day on which it was made, and tests count what its last days and weeks have.
  const day = content === 'demo' ? `-${new Date().toISOString().slice(0, 10)}` : '';
  return join(templateCache, `${content}-${hashOf(content)}${day}`);
}

export function hasTemplate(content: TemplateContent): boolean {
  return existsSync(templateOf(content));
}

/** How long an outdated template is kept after its last use: an earlier run may still use it. */
const maxUnusedMs = 3_600_000;

/** Marks a template as recently used. */
export function touch(template: string): void {
  const now = new Date();
  utimesSync(template, now, now);
}

/** Removes what has not been used for a while: other templates of the same content, and incomplete ones. */
export function pruneBeside(content: TemplateContent): void {
  const current = basename(templateOf(content));
  for (const name of readdirSync(templateCache)) {
    const path = join(templateCache, name);
    const isOld = name !== current && (name.startsWith(`${content}-`) || name.startsWith('partial-'));
    if (isOld && Date.now() - statSync(path).mtimeMs > maxUnusedMs)
      rmSync(path, { recursive: true, force: true });
  }
}

const hashes = new Map<TemplateContent, string>();

/** The hash of the sources, computed once per process: the process keeps the modules that it has loaded. */
function hashOf(content: TemplateContent): string {
  const hash = hashes.get(content) ?? hashOfSources(content);
  hashes.set(content, hash);
  return hash;
}

function hashOfSources(content: TemplateContent): string {
  const patterns = ['node_modules/@electric-sql/pglite/package.json'];
  if (content !== 'empty') patterns.push('migrations/*.ts');
  const isFilled = content === 'demo' || content === 'examples';
  if (isFilled) patterns.push('demo/**');
  const found = globSync(patterns, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const modules = isFilled ? [...loadedBy(root)('test/support/templates.ts')] : [];
  const loaded = modules.map((module) => join(root, module)).filter((path) => existsSync(path));
  const hash = createHash('sha256');
  for (const path of [...found, ...loaded].toSorted()) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
