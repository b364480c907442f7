import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

it('at most ten hand-written files name a stored field of issues', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(?:ts|graphql)$/.test(file) && !file.includes('.generated.') && !file.startsWith('cli/demo'),
  );
  const mentioning = files.filter((file) => /\bdueDate\b/.test(readFileSync(`src/${file}`, 'utf8')));
  expect(mentioning.length).toBeGreaterThan(0);
  expect(mentioning.length).toBeLessThanOrEqual(10);
});
