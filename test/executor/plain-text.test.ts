import { expect, it } from '@jest/globals';
import { plainEnd } from '../../src/executor/compiled/writing/plain-text.ts';

/** A text of bytes that need no escape, at an offset in its buffer, because its alignment matters. */
function plainBytes(length: number, offset: number): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(length + 8), offset, length);
  for (let at = 0; at < length; at += 1)
    bytes[at] = [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff][at % 8] as number;
  return bytes;
}

it.each([0, 1, 2, 3])('plain bytes end at the first one to escape (offset %d)', (offset) => {
  for (const length of [0, 1, 7, 256, 257, 258, 259, 260, 300]) {
    const bytes = plainBytes(length, offset);
    expect(plainEnd(bytes, 0, length)).toBe(length);
    for (const start of [0, 1, 2, 3]) {
      for (let at = start; at < length; at += 1) {
        const before = bytes[at] as number;
        for (const escaped of [0x00, 0x1f, 0x22, 0x5c]) {
          bytes[at] = escaped;
          expect(plainEnd(bytes, start, length)).toBe(at);
        }
        bytes[at] = before;
      }
    }
  }
});
