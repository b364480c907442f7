import { randomFillSync } from 'node:crypto';
import { idRule } from '../model/sentences.ts';

/** The prefixes of ids, one for each kind of object. */
export const idPrefixes = [
  'workspace',
  'user',
  'member',
  'team',
  'repo',
  'project',
  'pstatus',
  'plink',
  'status',
  'label',
  'delivery',
  'issue',
  'comment',
  'link',
  'attachment',
  'activity',
  'app',
  'installation',
  'thread',
  'message',
  'token',
  'audit',
  'change',
  'webhook',
  'whdelivery',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const values = new Map(Array.from(alphabet, (character, value) => [character, BigInt(value)]));
const digits = Buffer.from(alphabet);
/** All pairs of digits, by the ten bits that they encode. */
const pairs = Array.from({ length: 1024 }, (_, bits) => `${alphabet[bits >> 5]}${alphabet[bits & 31]}`);
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

// Random bytes for many ids are requested from the system at once, because each request takes a large part of a write's
// time.
const entropy = Buffer.alloc(4_096);
let taken = entropy.length;

/** Makes a UUIDv7. Ids sort by their creation time, to the millisecond. */
export function newUuid(atMs: number = Date.now()): string {
  if (taken === entropy.length) {
    randomFillSync(entropy);
    taken = 0;
  }
  const bytes = entropy.subarray(taken, taken + 16);
  taken += 16;
  bytes.writeUIntBE(atMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The TypeID of a row, which GraphQL and REST show: a prefix and the UUID in base32. */
export function encodeId(prefix: IdPrefix, uuid: string): string {
  let text = `${prefix}_`;
  // Two zero bits and the 128 bits of the UUID make 13 pairs of digits. They are read from the hexadecimal digits in
  // order.
  let rest = 0;
  let bits = 2;
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === 0x2d) continue;
    rest = (rest << 4) | (code > 0x39 ? code - 0x57 : code - 0x30);
    bits += 4;
    if (bits < 10) continue;
    bits -= 10;
    text += pairs[rest >> bits];
    rest &= (1 << bits) - 1;
  }
  return text;
}

/** Writes the 26 digits of a UUID, which starts at `start` in `uuid`, into `bytes` at the offset `at`. */
export function writeDigits(bytes: Uint8Array, at: number, uuid: Uint8Array, start: number): void {
  const first = uuid[start] as number;
  bytes[at] = digits[first >> 5] as number;
  bytes[at + 1] = digits[first & 31] as number;
  // The other 15 bytes are three times 40 bits, which are eight digits. Two halves of 20 bits each fit in a small
  // integer.
  for (let group = 0; group < 3; group += 1) {
    const from = start + 1 + group * 5;
    const middle = uuid[from + 2] as number;
    const high = ((uuid[from] as number) << 12) | ((uuid[from + 1] as number) << 4) | (middle >> 4);
    const low = ((middle & 15) << 16) | ((uuid[from + 3] as number) << 8) | (uuid[from + 4] as number);
    const to = at + 2 + group * 8;
    bytes[to] = digits[high >> 15] as number;
    bytes[to + 1] = digits[(high >> 10) & 31] as number;
    bytes[to + 2] = digits[(high >> 5) & 31] as number;
    bytes[to + 3] = digits[high & 31] as number;
    bytes[to + 4] = digits[low >> 15] as number;
    bytes[to + 5] = digits[(low >> 10) & 31] as number;
    bytes[to + 6] = digits[(low >> 5) & 31] as number;
    bytes[to + 7] = digits[low & 31] as number;
  }
}

/** The same for a UUID in text form. */
export function writeDigitsOfText(bytes: Uint8Array, at: number, uuid: string): void {
  let rest = 0;
  let bits = 2;
  let next = at;
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === 0x2d) continue;
    rest = (rest << 4) | (code > 0x39 ? code - 0x57 : code - 0x30);
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    bytes[next] = digits[rest >> bits] as number;
    next += 1;
    rest &= (1 << bits) - 1;
  }
}

/**
 * Parses a TypeID; undefined if the text is not one. Its letters must be lower case, as the TypeID specification
 * requires.
 */
export function parseId(id: string): { prefix: IdPrefix; uuid: string } | undefined {
  const found = /^([a-z]{1,16})_([0-7][0-9a-hjkmnp-tv-z]{25})$/.exec(id);
  const prefix = idPrefixes.find((known) => known === found?.[1]);
  if (!found?.[2] || !prefix) return undefined;
  let number = 0n;
  for (const character of found[2]) number = (number << 5n) | (values.get(character) ?? 0n);
  const hex = number.toString(16).padStart(32, '0');
  return {
    prefix,
    uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
  };
}

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text);
}

/** The uuid of an id with this prefix, or a message that says what is wrong with the id. */
export function decodeId(prefix: IdPrefix, id: string): { uuid: string } | { problem: string } {
  const parsed = parseId(id);
  return parsed?.prefix === prefix ? { uuid: parsed.uuid } : { problem: idRule(prefix, parsed?.prefix) };
}
