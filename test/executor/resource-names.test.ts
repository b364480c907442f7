import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { isObjectType } from 'graphql';
import { globalTables, tenantTables } from '../../src/db/tables/tenant-tables.ts';
import { schema } from '../../src/schema/index.ts';

const root = join(import.meta.dirname, '../..');

/** Names of tables that mean something else in the executor. */
const otherMeanings: Readonly<Record<string, string>> = {
  status: 'the status of an HTTP response',
  idempotencyKey: 'the key that a request carries',
  change: 'that something becomes different',
};

/** What every service has that knows its callers. */
const namesOfEveryService: ReadonlySet<string> = new Set(['access token', 'user account']);

/** Types that every GraphQL service with connections has. */
const typesOfEverySchema = /^(__\w+|Query|Mutation|PageInfo|\w+Connection|\w+Edge)$/;

it('src/executor names no table and no object type of the schema', () => {
  const tables = [...Object.keys(tenantTables), ...Object.keys(globalTables)];
  const types = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !typesOfEverySchema.test(type.name))
    .map(({ name }) => name);
  const names = new Set([...tables, ...types].filter((name) => !Object.hasOwn(otherMeanings, name)));
  const phrases = [...names].map((name) => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());
  const written = phrases.filter((phrase) => phrase.includes(' ') && !namesOfEveryService.has(phrase));
  // Also in the plural, "audit entries".
  const phrase = new RegExp(`\\b(?:${written.join('|').replaceAll(/y\b/g, '(?:y|ie)')})s?\\b`, 'gi');
  const files = globSync('src/executor/**/*.ts', { cwd: root });
  const named = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const found = line.match(/\w+/g)?.filter((word) => names.has(word)) ?? [];
        return [...found, ...(line.match(phrase) ?? [])].map((name) => `${file}:${index + 1} names ${name}`);
      }),
  );
  expect(files.length).toBeGreaterThan(40);
  expect(names.size).toBeGreaterThan(40);
  expect(named).toEqual([]);
});
