/** How many bytes of unfinished bodies are kept in memory, over all connections. */
const maxUnfinishedBytes = 67_108_864;

/** What a chunk takes in memory besides its bytes. A body may come in many small ones. */
export const chunkOverheadBytes = 256;

/** A body of which more is to come. */
export interface UnfinishedBody {
  /** Sets how many bytes of it are in memory. */
  holds(bytes: number): void;
  /** Called when it is complete, or when nobody waits for it any longer. */
  end(): void;
}

/** Whose a body is, and how it is given up. */
export interface BodySource {
  /** The workspace of the client; undefined while it has named no token. */
  readonly workspaceId: () => string | undefined;
  /** Called, at most once, when the body has to be given up. */
  readonly cut: () => void;
}

interface HeldBody {
  bytes: number;
  readonly sinceMs: number;
  readonly source: BodySource;
}

/**
 * Limits the memory of bodies, and of messages of WebSockets, that have not arrived completely. Requests are not in progress meanwhile,
 * so admission does not limit how many there are. When all of them together are too large, the workspace that sends most of them, or all
 * clients without a token together, loses those that are largest and have taken longest.
 */
export class UnfinishedBodies {
  readonly #maxBytes: number;
  readonly #held = new Set<HeldBody>();
  #bytes = 0;

  constructor(maxBytes = maxUnfinishedBytes) {
    this.#maxBytes = maxBytes;
  }

  begin(source: BodySource): UnfinishedBody {
    const body = { bytes: 0, sinceMs: performance.now(), source };
    this.#held.add(body);
    return {
      holds: (bytes) => this.#holds(body, bytes),
      end: () => this.#end(body),
    };
  }

  #holds(body: HeldBody, bytes: number): void {
    if (!this.#held.has(body)) return;
    this.#bytes += bytes - body.bytes;
    body.bytes = bytes;
    while (this.#bytes > this.#maxBytes) {
      const largest = this.#largest();
      this.#end(largest);
      largest.source.cut();
    }
  }

  #end(body: HeldBody): void {
    if (this.#held.delete(body)) this.#bytes -= body.bytes;
  }

  #largest(): HeldBody {
    const nowMs = performance.now();
    const sizeOf = ({ bytes, sinceMs }: HeldBody) => bytes * (nowMs - sinceMs);
    const byWorkspace = Map.groupBy(this.#held, ({ source }) => source.workspaceId());
    const totals = [...byWorkspace.values()].map((bodies) => ({
      bodies,
      total: bodies.reduce((sum, { bytes }) => sum + bytes, 0),
    }));
    const { bodies } = totals.reduce((most, each) => (each.total > most.total ? each : most));
    return bodies.reduce((largest, each) => (sizeOf(each) > sizeOf(largest) ? each : largest));
  }
}
