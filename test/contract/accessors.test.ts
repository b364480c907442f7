import { globSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

/** The folders whose code runs for each request. */
const folders = 'src/{db,executor,live,reference,resolvers,rest-compat,server/graphql,server/http}/**/*.ts';

/** An accessor of an object literal. Those of classes declare their type. */
const literalAccessor = /^\s+(?:get \w+\(\)|set \w+\([^)]*\)) \{$/m;

// V8 gives each such literal a hidden class of its own. It is slow, and what the accessor refers to stays in memory until a full
// garbage collection.
it('the code of a request creates no object literal with an accessor', () => {
  expect(literalAccessor.test('  get rows() {')).toBe(true);
  const files = globSync(folders);
  expect(files.length).toBeGreaterThan(200);
  expect(files.filter((file) => literalAccessor.test(readFileSync(file, 'utf8')))).toEqual([]);
});
