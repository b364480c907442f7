/** A small seeded generator (mulberry32), so that all contenders get the same requests in the same order. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('The list is empty.');
    return item;
  }

  /** Several different items, in the order of the list. */
  some<Item>(items: readonly Item[], count: number): Item[] {
    const left = [...items.keys()];
    const taken = Array.from(
      { length: Math.min(count, items.length) },
      () => left.splice(this.below(left.length), 1)[0] ?? 0,
    );
    return taken.sort((one, other) => one - other).map((index) => items[index] as Item);
  }
}
