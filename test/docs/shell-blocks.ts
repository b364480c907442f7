import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The pages whose commands somebody may paste, as a reader meets them. */
export const pages: readonly string[] = [
  'README.md',
  ...globSync('docs/guides/*.md', { cwd: root }).toSorted(),
  ...globSync('docs/*.md', { cwd: root }).toSorted(),
  'CONTRIBUTING.md',
];

/** The blocks of a page in a language, in its order, without the indentation of a list. */
export function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fenced = text.matchAll(/^( *)```(\w*)\n([^]*?)\n\1```$/gm);
  return Array.from(fenced)
    .filter(([, , found]) => found === language)
    .map(([, indentation = '', , code = '']) => code.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''));
}
