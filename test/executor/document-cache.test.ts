import { expect, test } from '@jest/globals';
import { buildSchema } from 'graphql';
import { DocumentReader } from '../../src/executor/documents/reader.ts';
import { maxCachedCharacters } from '../../src/executor/limits.ts';

const schema = buildSchema('type Query { one: Int } type Subscription { two: Int }');

test('A document is cached when its text is read for the second time', () => {
  const reader = new DocumentReader(schema);
  const first = reader.read('{ one }');
  expect(reader.knows('{ one }')).toBe(false);
  const second = reader.read('{ one }');
  expect(second).not.toBe(first);
  expect(reader.knows('{ one }')).toBe(true);
  expect(reader.read('{ one }')).toBe(second);
});

test('Documents that are each sent once leave the cache as it is', () => {
  const reader = new DocumentReader(schema);
  const cached = [reader.read('{ one }'), reader.read('{ one }')][1];
  for (let index = 0; index < 100; index += 1)
    reader.read(`# ${String(index).padEnd(maxCachedCharacters / 20)}\n{ one }`);
  expect(reader.size).toBe(1);
  expect(reader.read('{ one }')).toBe(cached);
});

test('A text that was read once is forgotten when others have filled its cache', () => {
  const reader = new DocumentReader(schema);
  reader.read('{ one }');
  for (let index = 0; index < 100; index += 1)
    reader.read(`# ${String(index).padEnd(maxCachedCharacters / 20)}\n{ one }`);
  reader.read('{ one }');
  expect(reader.knows('{ one }')).toBe(false);
});

test('A subscription is the same document for as long as a stream uses it', () => {
  const reader = new DocumentReader(schema);
  const used = reader.read('subscription { two }');
  for (let index = 0; index < 100; index += 1) {
    const other = `# ${String(index).padEnd(maxCachedCharacters / 20)}\n{ one }`;
    for (let time = 0; time < 2; time += 1) reader.read(other);
  }
  expect(reader.knows('subscription { two }')).toBe(true);
  expect(reader.read('subscription { two }')).toBe(used);
});
