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

// Random bytes for many ids are requested from the system at once, because each request takes a large part of the time
// of a write.
const entropy = Buffer.alloc(4_096);
let usedBytes = entropy.length;

/** Makes a UUIDv7. Ids sort by their creation time, to the millisecond. */
export function newUuid(atMs: number = Date.now()): string {
  if (usedBytes === entropy.length) {
    randomFillSync(entropy);
    usedBytes = 0;
  }
  const bytes = entropy.subarray(usedBytes, usedBytes + 16);
  usedBytes += 16;
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
  let pendingBits = 0;
  let bits = 2;
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === 0x2d) continue;
    pendingBits = (pendingBits << 4) | (code > 0x39 ? code - 0x57 : code - 0x30);
    bits += 4;
    if (bits < 10) continue;
    bits -= 10;
    text += pairs[pendingBits >> bits];
    pendingBits &= (1 << bits) - 1;
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
    const source = start + 1 + group * 5;
    const middle = uuid[source + 2] as number;
    const high = ((uuid[source] as number) << 12) | ((uuid[source + 1] as number) << 4) | (middle >> 4);
    const low = ((middle & 15) << 16) | ((uuid[source + 3] as number) << 8) | (uuid[source + 4] as number);
    const target = at + 2 + group * 8;
    bytes[target] = digits[high >> 15] as number;
    bytes[target + 1] = digits[(high >> 10) & 31] as number;
    bytes[target + 2] = digits[(high >> 5) & 31] as number;
    bytes[target + 3] = digits[high & 31] as number;
    bytes[target + 4] = digits[low >> 15] as number;
    bytes[target + 5] = digits[(low >> 10) & 31] as number;
    bytes[target + 6] = digits[(low >> 5) & 31] as number;
    bytes[target + 7] = digits[low & 31] as number;
  }
}

/** The same for a UUID in text form. */
export function writeDigitsOfText(bytes: Uint8Array, at: number, uuid: string): void {
  let pendingBits = 0;
  let bits = 2;
  let next = at;
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === 0x2d) continue;
    pendingBits = (pendingBits << 4) | (code > 0x39 ? code - 0x57 : code - 0x30);
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    bytes[next] = digits[pendingBits >> bits] as number;
    next += 1;
    pendingBits &= (1 << bits) - 1;
  }
}

/**
 * Parses a TypeID; undefined if the text is not one. Its letters must be lower case, as the TypeID specification
 * requires.
 */
export function parseId(id: string): { prefix: IdPrefix; uuid: string } | undefined {
  const match = /^([a-z]{1,16})_([0-7][0-9a-hjkmnp-tv-z]{25})$/.exec(id);
  const prefix = idPrefixes.find((known) => known === match?.[1]);
  if (!match?.[2] || !prefix) return undefined;
  let number = 0n;
  for (const character of match[2]) number = (number << 5n) | (values.get(character) ?? 0n);
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
