/**
 * A map for entries that exist only for milliseconds, in a process that runs for months. Deleting an entry releases its value
 * at once.
 *
 * With a plain `Map`, V8 keeps the values of deleted entries until the next full garbage collection: each table that a
 * Map has outgrown points to the next one, so as soon as one of them is in the old generation, all later tables and
 * their values follow it there (docs/decisions/0051-rows-that-die-young.md).
 */
export class ShortLivedMap<Value> {
  readonly #holders = new Map<string, Holder<Value>>();

  get(key: string): Value | undefined {
    return this.#holders.get(key)?.value;
  }

  has(key: string): boolean {
    return this.#holders.has(key);
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#holders.set(key, { value });
  }

  delete(key: string): void {
    const holder = this.#holders.get(key);
    if (!holder) return;
    this.#holders.delete(key);
    holder.value = undefined;
  }
}

interface Holder<Value> {
  value: Value | undefined;
}
