import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

it('only the statements of src/db/writes insert or update issues, so that follow-ups apply to each write', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const writers = files.filter((file) =>
    /(?:updateTable|insertInto|insertRows\(\w+, )\(?'issue'|\b(?:update|insert into) issue\b/.test(
      readFileSync(`src/${file}`, 'utf8'),
    ),
  );
  expect(writers.sort()).toEqual([
    // Copies of joined ids in columns of their own, and parents of issues that are removed for good.
    'db/housekeeping.ts',
    'db/issue-purge.ts',
    'db/writes/issue-creation.ts',
    'db/writes/issue-parts.ts',
  ]);
});
