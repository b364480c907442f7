import { expect, it } from '@jest/globals';
import { uuidBytes } from '../../src/db/wire/uuid-bytes.ts';
import { KeyIndex } from '../../src/reference/key-index.ts';
import { newUuid } from '../../src/resolvers/ids.ts';

it.each([0, 1, 3, 1_000])('an index of %i keys finds each by text and by bytes, and no other', (count) => {
  const keys = Array.from({ length: count }, () => newUuid());
  const index = new KeyIndex(keys);
  for (const [position, key] of keys.entries()) {
    expect(index.ofText(key)).toBe(position);
    expect(index.ofBytes(Buffer.concat([Buffer.from('-'), uuidBytes(key), uuidBytes(newUuid())]), 1)).toBe(
      position,
    );
  }
  for (let other = 0; other < 100; other += 1) {
    const key = newUuid();
    expect([index.ofText(key), index.ofBytes(uuidBytes(key), 0)]).toEqual([-1, -1]);
  }
});

it('an index distinguishes keys that differ in any one digit', () => {
  const key = '018c22ac-d000-7001-8000-00000000000a';
  const others = Array.from(
    { length: key.length },
    (_, at) => `${key.slice(0, at)}${key[at] === '-' ? '-' : 'f'}${key.slice(at + 1)}`,
  ).filter((other) => other !== key);
  const index = new KeyIndex([key]);
  expect(others.map((other) => index.ofBytes(uuidBytes(other), 0))).toEqual(others.map(() => -1));
});

it('an index returns the last entry of a duplicate key', () => {
  const key = newUuid();
  const index = new KeyIndex([key, newUuid(), key]);
  expect([index.ofText(key), index.ofBytes(uuidBytes(key), 0)]).toEqual([2, 2]);
});
