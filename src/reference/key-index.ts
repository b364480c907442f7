import { isSameUuid, uuidBytes, uuidHash, uuidLength } from '../db/wire/uuid-bytes.ts';

/** The positions of the rows of a table by UUID. A lookup takes the UUID as text or as bytes, and allocates no text. */
export class KeyIndex {
  readonly #keys: Uint8Array;
  /** The position of a key plus one, at the slot of the key's hash or after it. 0 marks a free slot. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #byText: ReadonlyMap<string, number>;

  /** Of equal keys, the last one counts. */
  constructor(keys: readonly (string | null)[]) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(keys.length, 4) * 2));
    this.#mask = size - 1;
    this.#slots = new Int32Array(size);
    this.#keys = Buffer.concat(keys.map((key) => (key === null ? noKey : uuidBytes(key))));
    this.#byText = new Map(keys.map((key, position) => [key ?? '', position]));
    for (const [key, position] of this.#byText) {
      if (key === '') continue;
      let slot = uuidHash(this.#keys, position * uuidLength) & this.#mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = position + 1;
    }
  }

  /** The position of the row with this key; -1 when there is none. */
  ofText(key: string): number {
    return this.#byText.get(key) ?? -1;
  }

  /** The position of the row with the key whose bytes begin at `start`; -1 when there is none. */
  ofBytes(bytes: Uint8Array, start: number): number {
    let slot = uuidHash(bytes, start) & this.#mask;
    for (;;) {
      const position = (this.#slots[slot] as number) - 1;
      if (position < 0 || isSameUuid(this.#keys, position * uuidLength, bytes, start)) return position;
      slot = (slot + 1) & this.#mask;
    }
  }
}

const noKey = Buffer.alloc(uuidLength);
