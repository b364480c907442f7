/**
 * The warnings about the values of one line. Those that differ only in the indexes of lists are merged into the first one, with their
 * number: a list with a million invalid values has one warning.
 */
export class ReadWarnings {
  readonly #byPath = new Map<string, { readonly first: string; count: number }>();

  /** Adds a warning about the value at a path in the line (`comments[2].createdUtc`). */
  add(path: string, text: () => string): void {
    const anyIndex = path.replaceAll(/\[\d+\]/g, '[]');
    const earlier = this.#byPath.get(anyIndex);
    if (earlier) earlier.count += 1;
    else this.#byPath.set(anyIndex, { first: text(), count: 1 });
  }

  get texts(): string[] {
    return Array.from(this.#byPath.values(), ({ first, count }) =>
      count > 1 ? `${first} (the first of ${count})` : first,
    );
  }
}
