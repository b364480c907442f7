import type { WebSocket } from 'ws';
import type { WebSocketSender } from './web-socket-sender.ts';

const pingMs = 15_000;
/**
 * How many pings a client may leave unanswered if it had messages to read before them. The systems of both ends may hold
 * some megabytes of such messages.
 */
const slowPings = 20;

/** Pings the client, and closes the connection if it does not answer. Returns a function that stops it. */
export function pingRegularly(ws: WebSocket, sender: WebSocketSender): () => void {
  let unanswered = 0;
  let allowed = 1;
  ws.on('pong', () => {
    unanswered = 0;
    allowed = 1;
  });
  const ping = setInterval(() => {
    // While messages are unsent, `Unsent` watches for a client that reads nothing.
    if (sender.isSending) {
      unanswered = 0;
      allowed = slowPings;
      return;
    }
    if (unanswered >= allowed) return ws.terminate();
    unanswered += 1;
    ws.ping();
  }, pingMs);
  return () => clearInterval(ping);
}
