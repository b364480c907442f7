/** How often the other side is pinged, and how many beats it may leave unanswered. */
export interface Beat {
  readonly everyMs: number;
  readonly unanswered: number;
}

interface HeartbeatOptions extends Beat {
  /** Asks the other side. Called again only after it has answered, so that pings do not pile up. */
  readonly ask: () => void;
  readonly onSilence: () => void;
}

/**
 * Notices that another process has fallen silent. The silence is counted in beats of this process and not in time: while this
 * process itself was stopped, or the machine slept, the other side had no chance to answer, and no beat passed.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#beat(), options.everyMs).unref();
  }

  /** The other side has answered. */
  answered(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const { unanswered, ask, onSilence } = this.#options;
    this.#unanswered += 1;
    if (this.#unanswered === 1) return ask();
    if (this.#unanswered <= unanswered) return;
    this.stop();
    onSilence();
  }
}
