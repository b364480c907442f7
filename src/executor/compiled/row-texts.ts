import type { Row } from './frame.ts';

/** Bytes of remembered texts over all plans, with what it takes to keep one; beyond, all are forgotten. */
const maxBytes = 16_000_000;
const keptBytes = 200;
let bytes = 0;
let generation = 0;

/**
 * The JSON of one selection on rows that are kept in memory, by the row: such a row never changes, so neither does
 * what it is written as.
 */
export class RowTexts {
  #generation = generation;
  #texts = new WeakMap<Row, Uint8Array>();

  get(row: Row): Uint8Array | undefined {
    if (this.#generation === generation) return this.#texts.get(row);
    this.#generation = generation;
    this.#texts = new WeakMap();
    return undefined;
  }

  set(row: Row, text: Uint8Array): void {
    bytes += text.length + keptBytes;
    if (bytes > maxBytes) {
      bytes = 0;
      generation += 1;
    }
    this.#texts.set(row, text);
  }
}
