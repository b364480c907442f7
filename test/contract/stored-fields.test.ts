import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

it('at most ten hand-written files name a stored field of issues', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(?:ts|graphql)$/.test(file) && !file.includes('.generated.') && !file.startsWith('cli/demo'),
  );
  const naming = files.filter((file) => /\bdueDate\b/.test(readFileSync(`src/${file}`, 'utf8')));
  expect(naming.length).toBeGreaterThan(0);
  expect(naming.length).toBeLessThanOrEqual(10);
});
