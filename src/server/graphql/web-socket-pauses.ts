import type { WebSocket } from 'ws';

/** Pauses a connection while at least one caller wants it paused: large messages to parse, or answers that are not read. */
export class WebSocketPauses {
  readonly #ws: Pick<WebSocket, 'pause' | 'resume'>;
  #pauses = 0;

  constructor(ws: Pick<WebSocket, 'pause' | 'resume'>) {
    this.#ws = ws;
  }

  /** Pauses the connection until the returned function is called. It must be called exactly once. */
  begin(): () => void {
    this.#pauses += 1;
    if (this.#pauses === 1) this.#ws.pause();
    return () => {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#ws.resume();
    };
  }
}
