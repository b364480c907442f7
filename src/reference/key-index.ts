/** Of the text of a UUID. */
export const keyLength = 36;
/** Where the digits of a UUID begin that differ most from those of others. */
const hashedFrom = 28;

/** Where the row of a table stands by its UUID, as the text or as the bytes of it: no text is made to look one up. */
export class KeyIndex {
  readonly #keys: Uint8Array;
  /** The place of a key and one more, at the key's hash or behind it; nothing is 0. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #byText: ReadonlyMap<string, number>;

  /** Of the same key twice, the last counts. */
  constructor(keys: readonly (string | null)[]) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(keys.length, 4) * 2));
    this.#mask = size - 1;
    this.#slots = new Int32Array(size);
    this.#keys = Buffer.from(keys.map((key) => (key ?? '').padEnd(keyLength)).join(''), 'latin1');
    this.#byText = new Map(keys.map((key, place) => [key ?? '', place]));
    for (const place of this.#byText.values()) {
      let slot = hashOf(this.#keys, place * keyLength) & this.#mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = place + 1;
    }
  }

  /** The place of the key, -1 where there is none. */
  ofText(key: string): number {
    return this.#byText.get(key) ?? -1;
  }

  /** The same of the key whose text begins there. */
  ofBytes(bytes: Uint8Array, start: number): number {
    let slot = hashOf(bytes, start) & this.#mask;
    for (;;) {
      const place = (this.#slots[slot] as number) - 1;
      if (place < 0 || isSameKey(this.#keys, place * keyLength, bytes, start)) return place;
      slot = (slot + 1) & this.#mask;
    }
  }
}

/** Are the keys the same whose texts begin there and there. */
export function isSameKey(keys: Uint8Array, from: number, bytes: Uint8Array, start: number): boolean {
  // From the end, where keys differ.
  for (let at = keyLength - 1; at >= 0; at -= 1) if (keys[from + at] !== bytes[start + at]) return false;
  return true;
}

/** A number below 2^24 for the key whose text begins there. */
export function hashOf(bytes: Uint8Array, start: number): number {
  let hash = 0;
  for (let at = start + hashedFrom; at < start + keyLength; at += 1)
    hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  return Math.imul(hash, 0x9e3779b1) >>> 8;
}
