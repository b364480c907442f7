import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

it('no text assumes that its reader, or a person of the demo, is a man', () => {
  const texts = globSync(['*.md', 'docs/**/*.md', 'demo/*.*', 'examples/**/*.*', 'src/**/*.{ts,js}'], {
    cwd: root,
  });
  const lines = texts
    .filter((path) => path !== 'docs/specification.md')
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .filter((line) => /\b(?:his|himself)\b/i.test(line))
        .map((line) => `${path}: ${line}`),
    );
  expect(texts.length).toBeGreaterThan(300);
  expect(lines).toEqual([]);
});
