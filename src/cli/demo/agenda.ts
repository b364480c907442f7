interface Item {
  readonly atMs: number;
  readonly run: (atMs: number) => void;
}

/** What is to happen to one issue. Items may be added in any order and while others run; no two share a moment. */
export class Agenda {
  readonly #items: Item[] = [];

  add(atMs: number, run: Item['run']): void {
    const later = this.#items.findIndex((item) => item.atMs > atMs);
    this.#items.splice(later === -1 ? this.#items.length : later, 0, { atMs, run });
  }

  /** Runs the items in the order of their times; what lies after the last moment never happens. */
  run(untilMs: number): void {
    let lastMs = -Infinity;
    for (let item = this.#items.shift(); item && item.atMs <= untilMs; item = this.#items.shift()) {
      lastMs = Math.max(item.atMs, lastMs + 1000);
      item.run(lastMs);
    }
  }
}
