/** The time between two ticks. Each tick calls the listeners of one group. */
const tickMs = 250;

/** Calls many listeners regularly with one timer. They are called in groups, so that not all are called in the same moment. */
export class Pulse {
  readonly #groups: Set<() => void>[];
  #next = 0;
  #added = 0;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Each listener is called once in this time. */
  constructor(periodMs: number) {
    this.#groups = Array.from({ length: Math.ceil(periodMs / tickMs) }, () => new Set());
  }

  /** Returns a function that removes the listener. */
  add(listener: () => void): () => void {
    const group = this.#groups[this.#added % this.#groups.length] as Set<() => void>;
    this.#added += 1;
    this.#count += 1;
    group.add(listener);
    this.#timer ??= setInterval(() => this.#tick(), tickMs).unref();
    return () => {
      if (!group.delete(listener)) return;
      this.#count -= 1;
      if (this.#count > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #tick(): void {
    const group = this.#groups[this.#next % this.#groups.length] as Set<() => void>;
    this.#next += 1;
    for (const listener of group) listener();
  }
}
