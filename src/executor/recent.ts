/** What was used last, by its key, as much as fits in a number of characters; one entry may take a tenth of it. */
export class Recent<Value> {
  readonly #most: number;
  readonly #entries = new Map<string, { value: Value; characters: number }>();
  #characters = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Says whether the key is there, without counting as a use of it. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    // Re-inserted, so that the map's order is that of last use.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The key must not be there yet. */
  add(key: string, value: Value, characters: number): void {
    if (characters > this.#most / 10) return;
    this.#entries.set(key, { value, characters });
    this.#characters += characters;
    for (const [oldest, { characters: freed }] of this.#entries) {
      if (this.#characters <= this.#most) return;
      this.#entries.delete(oldest);
      this.#characters -= freed;
    }
  }
}
