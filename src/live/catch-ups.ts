interface WaitingStream {
  /** How many changes the stream is behind the end of its log. */
  readonly behind: number;
  readonly begin: () => void;
}

/** The streams of one workspace that wait, in the order in which they came, and how many have had their turn since the first one came. */
interface Line {
  readonly waiting: Set<WaitingStream>;
  turns: number;
}

/** After this many turns of a workspace, the next one goes to the stream that has waited longest. */
const turnsOfNearest = 3;

/**
 * Lets streams that are far behind the end of the log catch up: one read at a time, and then none for as long as it took, because
 * hundreds of clients that read slowly would delay all others. Workspaces have turns. Of the streams of one workspace, mostly the one
 * that is least far behind reads first. So a client that reads fast, and has fallen behind for a moment, does not wait for all the
 * slow ones; and the one that is farthest behind gets on, however many others come.
 */
export class CatchUps {
  /** In the order of their turns. */
  readonly #lines = new Map<string, Line>();
  #isBusy = false;

  async run<Result>(workspaceId: string, behind: number, read: () => Promise<Result>): Promise<Result> {
    await this.#waitInLine(workspaceId, behind);
    const beganMs = performance.now();
    try {
      return await read();
    } finally {
      setTimeout(() => this.#next(), performance.now() - beganMs);
    }
  }

  async #waitInLine(workspaceId: string, behind: number): Promise<void> {
    if (this.#isBusy) {
      const { promise, resolve } = Promise.withResolvers<void>();
      let line = this.#lines.get(workspaceId);
      if (!line) this.#lines.set(workspaceId, (line = { waiting: new Set(), turns: 0 }));
      line.waiting.add({ behind, begin: resolve });
      return promise;
    }
    this.#isBusy = true;
  }

  #next(): void {
    const [first] = this.#lines;
    this.#isBusy = first !== undefined;
    if (!first) return;
    const [workspaceId, line] = first;
    const next = nextOf(line);
    line.waiting.delete(next);
    line.turns += 1;
    // The rest of the workspace waits behind all other workspaces.
    this.#lines.delete(workspaceId);
    if (line.waiting.size > 0) this.#lines.set(workspaceId, line);
    next.begin();
  }
}

function nextOf({ waiting, turns }: Line): WaitingStream {
  const [oldest, ...others] = waiting;
  if (!oldest) throw new Error('A line without streams.');
  if (turns % (turnsOfNearest + 1) === turnsOfNearest) return oldest;
  return others.reduce((nearest, other) => (other.behind < nearest.behind ? other : nearest), oldest);
}
