import type { WebSocket } from 'ws';

/** Stops reading a connection while there is any reason for it. */
export class WebSocketPauses {
  readonly #ws: Pick<WebSocket, 'pause' | 'resume'>;
  #reasons = 0;

  constructor(ws: Pick<WebSocket, 'pause' | 'resume'>) {
    this.#ws = ws;
  }

  /** Stops reading until the function that it returns is called, which must happen once. */
  begin(): () => void {
    this.#reasons += 1;
    if (this.#reasons === 1) this.#ws.pause();
    return () => {
      this.#reasons -= 1;
      if (this.#reasons === 0) this.#ws.resume();
    };
  }
}
