/** The time between two beats, each of which calls those whose turn it is. */
const beatMs = 250;

/** Calls many listeners regularly with one timer for all of them, a few at a time. */
export class Pulse {
  readonly #turns: Set<() => void>[];
  #next = 0;
  #added = 0;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Each listener is called once in this time. */
  constructor(periodMs: number) {
    this.#turns = Array.from({ length: Math.ceil(periodMs / beatMs) }, () => new Set());
  }

  /** Returns a function that removes the listener. */
  add(listener: () => void): () => void {
    const turn = this.#turns[this.#added % this.#turns.length] as Set<() => void>;
    this.#added += 1;
    this.#count += 1;
    turn.add(listener);
    this.#timer ??= setInterval(() => this.#beat(), beatMs).unref();
    return () => {
      if (!turn.delete(listener)) return;
      this.#count -= 1;
      if (this.#count > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #beat(): void {
    const turn = this.#turns[this.#next % this.#turns.length] as Set<() => void>;
    this.#next += 1;
    for (const listener of turn) listener();
  }
}
