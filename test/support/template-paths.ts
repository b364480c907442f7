import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The content of a new database: only the tables, the demo workspace of today, or that of the day of the examples. */
export type Content = 'migrated' | 'demo' | 'examples';

/** The content of a template of an embedded database. The other templates start from `empty`. */
export type TemplateContent = Content | 'empty';

const root = join(import.meta.dirname, '../..');

/** Templates are cached between runs, under names that contain a hash of their sources. */
export const templateCache: string = join(root, 'node_modules/.cache/workgraph-test');

/** The path of the template of an embedded database, whether it exists yet or not. */
export function templateOf(content: TemplateContent): string {
  return join(templateCache, `${content}-${hashOfSources(content)}`);
}

export function hasTemplate(content: TemplateContent): boolean {
  return existsSync(templateOf(content));
}

function hashOfSources(content: TemplateContent): string {
  const patterns = ['node_modules/@electric-sql/pglite/package.json'];
  if (content !== 'empty') patterns.push('migrations/*.ts');
  if (content === 'demo' || content === 'examples')
    patterns.push(
      'test/support/templates.ts',
      'demo/**',
      'src/cli/demo/seed-demo.ts',
      'src/cli/import/*.ts',
      'src/portability/**/*.ts',
      'src/model/fold.ts',
    );
  const hash = createHash('sha256');
  for (const path of globSync(patterns, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted())
    hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
