import type { Patience } from './engine/deadline.ts';

/** A number of places; who finds none free waits in line, for a time and no longer. */
export class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Says whether a place was taken within the time; a client that goes meanwhile leaves the line. */
  async take(withinMs: number, patience?: Patience): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const sinceMs = performance.now();
    const taken = await new Promise<boolean>((resolve) => {
      const settle = (result: boolean) => {
        clearTimeout(late);
        stopListening?.();
        this.#waiting.delete(proceed);
        resolve(result);
      };
      const proceed = () => settle(true);
      const giveUp = () => settle(false);
      const late = setTimeout(giveUp, withinMs);
      const stopListening = patience?.onGone(giveUp);
      this.#waiting.add(proceed);
    });
    patience?.waited(performance.now() - sinceMs);
    return taken;
  }

  give(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#free += 1;
  }
}
