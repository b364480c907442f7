import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { isFast, pickFast } from '../support/fast-tests.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync('test/**/*.test.ts', { cwd: root }).toSorted();
const fast = files.filter(isFast);

it('the fast tests are picked from all test files', () => {
  const { filtered } = pickFast(files.map((file) => join(root, file)));
  expect(filtered).toEqual(fast.map((file) => join(root, file)));
  expect(fast.length).toBeGreaterThan(20);
  expect(fast.length).toBeLessThan(files.length);
});

it.each([
  ['starts a server by itself', 'test/rest/probes.test.ts'],
  ['starts a server through another module', 'test/resources/projects-read.test.ts'],
  ['starts a server through a dynamic import', 'test/contract/generated.test.ts'],
  ['opens a database without a server', 'test/db/engine-embedded.test.ts'],
  ['starts a command in a process of its own', 'test/db/directory-lock.test.ts'],
  ['starts a browser', 'test/pages/graphiql.test.ts'],
])('a test file that %s is not fast', (_what, file) => {
  expect(files).toContain(file);
  expect(fast).not.toContain(file);
});

it('a fast test file calls nothing that starts a server, opens a database or copies one', () => {
  const startingCall = /\b(?:startApp|startServer|openDatabase|openEmbedded|copyTemplate|fork|spawn)\(/;
  const callers = fast.filter((file) => startingCall.test(readFileSync(join(root, file), 'utf8')));
  expect(callers).toEqual([]);
});
