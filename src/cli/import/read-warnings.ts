/**
 * The warnings about the values of one line. Of those about values at the same place, but for the indexes of lists, it keeps the
 * first and the number of all, so a list with a million such values has one warning.
 */
export class ReadWarnings {
  readonly #byPlace = new Map<string, { readonly first: string; count: number }>();

  /** Adds a warning about the value at a place in the line (`comments[2].createdUtc`). */
  add(place: string, text: () => string): void {
    const anyIndex = place.replaceAll(/\[\d+\]/g, '[]');
    const earlier = this.#byPlace.get(anyIndex);
    if (earlier) earlier.count += 1;
    else this.#byPlace.set(anyIndex, { first: text(), count: 1 });
  }

  get texts(): string[] {
    return Array.from(this.#byPlace.values(), ({ first, count }) =>
      count > 1 ? `${first} (the first of ${count})` : first,
    );
  }
}
