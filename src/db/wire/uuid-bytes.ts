/** The length of a UUID in bytes. */
export const uuidLength = 16;

const hex = Buffer.from('0123456789abcdef');
/** The position of each byte's two digits in the text, between which there are four dashes. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const text = Buffer.alloc(36, '-');

/** The text of the UUID whose bytes begin at `start`. */
export function uuidText(bytes: Uint8Array, start: number): string {
  for (let index = 0; index < uuidLength; index += 1) {
    const byte = bytes[start + index] as number;
    const at = positions[index] as number;
    text[at] = hex[byte >> 4] as number;
    text[at + 1] = hex[byte & 15] as number;
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
 * An array of UUIDs in PostgreSQL's binary format, which it reads in half the time of the text: the number of
 * dimensions, a flag for nulls, the type, the number of items, the lower bound 1; then each item after its length.
 */
export class UuidArray {
  #bytes = Buffer.allocUnsafeSlow(headLength);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Empties the array and makes room for `max` items. */
  begin(max: number): void {
    this.#count = 0;
    const length = headLength + max * itemLength;
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
    for (let index = 0; index < uuidLength; index += 1) own[at + index] = bytes[start + index] as number;
    this.#count += 1;
  }

  /** Whether an item equals the UUID whose bytes begin at `start`. */
  itemEquals(item: number, bytes: Uint8Array, start: number): boolean {
    return isSameUuid(this.#bytes, headLength + item * itemLength + 4, bytes, start);
  }

  /** A copy of the array, to send as a parameter, because the array itself is reused. */
  toBuffer(): Buffer {
    const own = this.#bytes;
    let at = own.writeInt32BE(1);
    at = own.writeInt32BE(0, at);
    at = own.writeInt32BE(uuidType, at);
    at = own.writeInt32BE(this.#count, at);
    own.writeInt32BE(1, at);
    return Buffer.from(own.subarray(0, headLength + this.#count * itemLength));
  }
}

/** These UUIDs as such an array. */
export function uuidArrayBytes(uuids: Iterable<string>): Buffer {
  const all = [...uuids];
  const array = new UuidArray();
  array.begin(all.length);
  for (const uuid of all) array.add(uuidBytes(uuid), 0);
  return array.toBuffer();
}

/**
 * Calls `visit` with the position of each UUID in the array that begins at `start`. Arrays of our columns hold no
 * nulls.
 */
export function eachUuid(bytes: Buffer, start: number, visit: (at: number) => void): void {
  // An empty array has no dimension.
  const count = bytes.readInt32BE(start) === 0 ? 0 : bytes.readInt32BE(start + 12);
  for (let item = 0; item < count; item += 1) visit(start + headLength + item * itemLength + 4);
}

/** The UUIDs of the array that begins at `start`, as text. */
export function uuidTexts(bytes: Buffer, start: number): string[] {
  const texts: string[] = [];
  eachUuid(bytes, start, (at) => texts.push(uuidText(bytes, at)));
  return texts;
}

/** Whether two UUIDs in binary form are equal. */
export function isSameUuid(some: Uint8Array, from: number, others: Uint8Array, start: number): boolean {
  // From the end: UUIDv7 keys share their beginning, which is a time.
  for (let at = uuidLength - 1; at >= 0; at -= 1) if (some[from + at] !== others[start + at]) return false;
  return true;
}

/** A hash below 2^24 of the UUID whose bytes begin at `start`, made of its last bytes, which differ most. */
export function uuidHash(bytes: Uint8Array, start: number): number {
  let hash = 0;
  for (let at = start + 12; at < start + uuidLength; at += 1) hash = (hash << 8) | (bytes[at] as number);
  return Math.imul(hash, 0x9e3779b1) >>> 8;
}
