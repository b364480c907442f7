import { randomFillSync } from 'node:crypto';
import { uuidLength } from '../db/wire/uuid-bytes.ts';

/** What an id can name, as its prefix says it. */
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
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const values = new Map(Array.from(alphabet, (character, value) => [character, BigInt(value)]));
const digits = Buffer.from(alphabet);
/** Every two digits, by the ten bits that they stand for. */
const pairs = Array.from({ length: 1024 }, (_, bits) => `${alphabet[bits >> 5]}${alphabet[bits & 31]}`);
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

// The system is asked for the random bytes of many ids at once: each question takes as long as much else of a write.
const entropy = Buffer.alloc(4_096);
let taken = entropy.length;

/** A new UUIDv7: ids that are made later sort later, to the millisecond. */
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

/** The TypeID that both faces show of a row: prefix and base32 of its UUID. */
export function encodeId(prefix: IdPrefix, uuid: string): string {
  let text = `${prefix}_`;
  // 128 bits are 13 pairs of digits after two bits of zero; they are taken from the hexadecimal digits as they come.
  let rest = 0;
  let bits = 2;
  for (let place = 0; place < uuid.length; place += 1) {
    const code = uuid.charCodeAt(place);
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

/** Writes the 26 digits of a UUID, whose bytes begin at `start`, into the bytes from a place on. */
export function writeDigits(bytes: Uint8Array, at: number, uuid: Uint8Array, start: number): void {
  let rest = 0;
  let bits = 2;
  let next = at;
  for (let place = start; place < start + uuidLength; place += 1) {
    rest = (rest << 8) | (uuid[place] as number);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      bytes[next] = digits[rest >> bits] as number;
      next += 1;
      rest &= (1 << bits) - 1;
    }
  }
}

/** The same of a UUID that is a text. */
export function writeDigitsOfText(bytes: Uint8Array, at: number, uuid: string): void {
  let rest = 0;
  let bits = 2;
  let next = at;
  for (let place = 0; place < uuid.length; place += 1) {
    const code = uuid.charCodeAt(place);
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

/** What a TypeID says; undefined when the text is none. Its letters are lower case, as the TypeID specification has it. */
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

const nouns: Partial<Record<IdPrefix, string>> = {
  repo: 'repository',
  pstatus: 'project status',
  plink: 'project link',
  app: 'application',
};

/** The kind of thing in words, for messages: "expected a team id, got an issue id". */
export function idNoun(prefix: IdPrefix): string {
  return nouns[prefix] ?? prefix;
}

/** The uuid behind an id of one kind, or the sentence that says what is wrong with it. */
export function decodeId(prefix: IdPrefix, id: string): { uuid: string } | { problem: string } {
  const parsed = parseId(id);
  if (!parsed) return { problem: `expected ${article(prefix)} id, got something that is not an id` };
  if (parsed.prefix !== prefix)
    return { problem: `expected ${article(prefix)} id, got ${article(parsed.prefix)} id` };
  return { uuid: parsed.uuid };
}

function article(prefix: IdPrefix): string {
  const noun = idNoun(prefix);
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
