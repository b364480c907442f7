import type { Row } from './frame.ts';

/** Characters of remembered texts over all plans; beyond, all are forgotten. */
const maxCharacters = 16_000_000;
let characters = 0;
let generation = 0;

/**
 * The JSON of one selection on rows that are kept in memory, by the row: such a row never changes, so neither does
 * what it is written as.
 */
export class RowTexts {
  #generation = generation;
  #texts = new WeakMap<Row, string>();

  of(row: Row, write: () => string): string {
    if (this.#generation !== generation) {
      this.#generation = generation;
      this.#texts = new WeakMap();
    }
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = write();
    characters += text.length;
    if (characters > maxCharacters) {
      characters = 0;
      generation += 1;
    }
    this.#texts.set(row, text);
    return text;
  }
}
