/** Of a UUID. */
export const uuidLength = 16;

const hex = Buffer.from('0123456789abcdef');
/** Behind which bytes a dash stands. */
const dashes = new Set([3, 5, 7, 9]);
const dash = 0x2d;
const text = Buffer.alloc(36);

/** The text of the UUID whose bytes begin there. */
export function uuidText(bytes: Uint8Array, start: number): string {
  let at = 0;
  for (let place = 0; place < uuidLength; place += 1) {
    const byte = bytes[start + place] as number;
    text[at] = hex[byte >> 4] as number;
    text[at + 1] = hex[byte & 15] as number;
    at += 2;
    if (!dashes.has(place)) continue;
    text[at] = dash;
    at += 1;
  }
  return text.toString('latin1');
}

/** The bytes of a UUID. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** The OID of the type `uuid`. */
const uuidType = 2950;
const headLength = 20;
const itemLength = 4 + uuidLength;

/**
 * An array of UUIDs as PostgreSQL takes it in bytes, which it reads in half the time of the text: the number of
 * dimensions, no nulls, the type, the number of items, the first of them is 1; each item after its length.
 */
export class UuidArray {
  #bytes = Buffer.allocUnsafeSlow(headLength);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** For so many at most, none of them there yet. */
  begin(most: number): void {
    this.#count = 0;
    const length = headLength + most * itemLength;
    if (this.#bytes.length < length) this.#bytes = Buffer.allocUnsafeSlow(2 * length);
  }

  add(bytes: Uint8Array, start: number): void {
    const own = this.#bytes;
    let at = headLength + this.#count * itemLength;
    own[at] = 0;
    own[at + 1] = 0;
    own[at + 2] = 0;
    own[at + 3] = uuidLength;
    at += 4;
    for (let place = 0; place < uuidLength; place += 1) own[at + place] = bytes[start + place] as number;
    this.#count += 1;
  }

  /** Is it the one whose bytes begin there. */
  isAt(item: number, bytes: Uint8Array, start: number): boolean {
    return isSameUuid(this.#bytes, headLength + item * itemLength + 4, bytes, start);
  }

  /** A copy of it, for as long as it takes to send. */
  sent(): Buffer {
    const own = this.#bytes;
    let at = own.writeInt32BE(1);
    at = own.writeInt32BE(0, at);
    at = own.writeInt32BE(uuidType, at);
    at = own.writeInt32BE(this.#count, at);
    own.writeInt32BE(1, at);
    return Buffer.from(own.subarray(0, headLength + this.#count * itemLength));
  }
}

/** Such an array of these. */
export function uuidArrayBytes(uuids: Iterable<string>): Buffer {
  const all = [...uuids];
  const array = new UuidArray();
  array.begin(all.length);
  for (const uuid of all) array.add(uuidBytes(uuid), 0);
  return array.sent();
}

/** Calls for each UUID of such an array, which begins there, with where its bytes begin; no column of ours has nulls in one. */
export function eachUuid(bytes: Buffer, start: number, give: (at: number) => void): void {
  // An array without items has no dimension either.
  const count = bytes.readInt32BE(start) === 0 ? 0 : bytes.readInt32BE(start + 12);
  for (let item = 0; item < count; item += 1) give(start + headLength + item * itemLength + 4);
}

/** The texts of the UUIDs in such an array. */
export function uuidTexts(bytes: Buffer, start: number): string[] {
  const texts: string[] = [];
  eachUuid(bytes, start, (at) => texts.push(uuidText(bytes, at)));
  return texts;
}

/** Are the UUIDs the same whose bytes begin there and there. */
export function isSameUuid(some: Uint8Array, from: number, others: Uint8Array, start: number): boolean {
  // From the end, where keys differ.
  for (let at = uuidLength - 1; at >= 0; at -= 1) if (some[from + at] !== others[start + at]) return false;
  return true;
}

/** A number below 2^24 for the UUID whose bytes begin there, from its end, where they differ most. */
export function uuidHash(bytes: Uint8Array, start: number): number {
  let hash = 0;
  for (let at = start + 12; at < start + uuidLength; at += 1) hash = (hash << 8) | (bytes[at] as number);
  return Math.imul(hash, 0x9e3779b1) >>> 8;
}
