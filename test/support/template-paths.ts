import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a database starts with: the tables alone, or the demo workspace too, as it is today or on the examples' day. */
export type Content = 'migrated' | 'demo' | 'examples';

/** What a template of an embedded database may hold; the others are made from an empty one. */
export type TemplateContent = Content | 'empty';

const root = join(import.meta.dirname, '../..');

/** Templates are kept from run to run, under names that change with what they are made from. */
export const templateCache: string = join(root, 'node_modules/.cache/workgraph-test');

/** Where the template of an embedded database is, or will be. */
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
      'demo/**',
      'src/cli/seed-demo.ts',
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
