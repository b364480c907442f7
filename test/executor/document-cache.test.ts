import { expect, test } from '@jest/globals';
import { buildSchema, parse } from 'graphql';
import { DocumentReader } from '../../src/executor/documents/reader.ts';
import { maxCachedCharacters, maxVariantFields } from '../../src/executor/limits.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { perVariant } from '../../src/executor/selections/variants.ts';

const schema = buildSchema('type Query { one: Int } type Subscription { two: Int }');

test('a document is cached when its text is read for the second time', () => {
  const reader = new DocumentReader(schema);
  const first = reader.read('{ one }');
  expect(reader.knows('{ one }')).toBe(false);
  const second = reader.read('{ one }');
  expect(second).not.toBe(first);
  expect(reader.knows('{ one }')).toBe(true);
  expect(reader.read('{ one }')).toBe(second);
});

test('documents that are each sent once leave the cache as it is', () => {
  const reader = new DocumentReader(schema);
  const cached = [reader.read('{ one }'), reader.read('{ one }')][1];
  for (let index = 0; index < 100; index += 1)
    reader.read(`# ${String(index).padEnd(maxCachedCharacters / 20)}\n{ one }`);
  expect(reader.size).toBe(1);
  expect(reader.read('{ one }')).toBe(cached);
});

test('a text that was read once is forgotten when others have filled its cache', () => {
  const reader = new DocumentReader(schema);
  reader.read('{ one }');
  for (let index = 0; index < 100; index += 1)
    reader.read(`# ${String(index).padEnd(maxCachedCharacters / 20)}\n{ one }`);
  reader.read('{ one }');
  expect(reader.knows('{ one }')).toBe(false);
});

test('a subscription is the same document for as long as a stream uses it', () => {
  const reader = new DocumentReader(schema);
  const used = reader.read('subscription { two }');
  for (let index = 0; index < 100; index += 1) {
    const other = `# ${String(index).padEnd(maxCachedCharacters / 20)}\n{ one }`;
    for (let time = 0; time < 2; time += 1) reader.read(other);
  }
  expect(reader.knows('subscription { two }')).toBe(true);
  expect(reader.read('subscription { two }')).toBe(used);
});

/** A document of a few hundred characters whose fragments spread each other twice, so that it has 2^levels fields. */
function multiplied(name: string, levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, level) => `fragment F${level} on Query { a: self { ...F${level + 1} } b: self { ...F${level + 1} } }`,
  );
  return `query ${name}($v: Boolean!) { one @skip(if: $v) ...F0 } ${fragments.join(' ')} fragment F${levels} on Query { one }`;
}

test('a document takes as much room in the cache as the fields that its fragments multiply', () => {
  const reader = new DocumentReader(buildSchema('type Query { one: Int self: Query }'));
  for (let index = 0; index < 100; index += 1)
    for (let time = 0; time < 2; time += 1) reader.read(multiplied(`Q${index}`, 10));
  expect(reader.size).toBeGreaterThan(5);
  expect(reader.size).toBeLessThan(20);
});

test('the variants of all operations together are bounded by their fields, and the first of each stays', () => {
  let computed = 0;
  const count = perVariant(() => (computed += 1));
  const sources = Array.from({ length: 100 }, (_, index) => {
    const document = parse(multiplied(`Q${index}`, 10));
    return { operation: chooseOperation(document, undefined), fragments: fragmentsOf(document) };
  });
  const askAll = (v: boolean) => {
    computed = 0;
    for (const source of sources) count({ ...source, variables: { v } });
    return computed;
  };
  expect([askAll(true), askAll(false)]).toEqual([100, 100]);
  expect(askAll(true)).toBe(0);
  // Each of them has 3,070 fields.
  const kept = Math.floor(maxVariantFields / 3_070);
  computed = 0;
  for (const source of sources.slice(-kept)) count({ ...source, variables: { v: false } });
  expect(computed).toBe(0);
  expect(askAll(false)).toBe(100);
});
