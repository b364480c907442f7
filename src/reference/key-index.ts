import { isSameUuid, uuidBytes, uuidHash, uuidLength } from '../db/wire/uuid-bytes.ts';

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
    this.#keys = Buffer.concat(keys.map((key) => (key === null ? noKey : uuidBytes(key))));
    this.#byText = new Map(keys.map((key, place) => [key ?? '', place]));
    for (const [key, place] of this.#byText) {
      if (key === '') continue;
      let slot = uuidHash(this.#keys, place * uuidLength) & this.#mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = place + 1;
    }
  }

  /** The place of the key, -1 where there is none. */
  ofText(key: string): number {
    return this.#byText.get(key) ?? -1;
  }

  /** The same of the key whose bytes begin there. */
  ofBytes(bytes: Uint8Array, start: number): number {
    let slot = uuidHash(bytes, start) & this.#mask;
    for (;;) {
      const place = (this.#slots[slot] as number) - 1;
      if (place < 0 || isSameUuid(this.#keys, place * uuidLength, bytes, start)) return place;
      slot = (slot + 1) & this.#mask;
    }
  }
}

const noKey = Buffer.alloc(uuidLength);
