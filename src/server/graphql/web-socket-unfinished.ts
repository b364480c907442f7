import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { UnfinishedBodies } from '../http/unfinished-bodies.ts';

/** How many bytes a client may send before it has named its token. */
const maxUnsignedBytes = 8_192;

/** The bytes of a control frame besides its payload: its head, and the mask of a client. */
const controlFrameBytes = 6;

interface Limits {
  readonly unfinishedBodies: UnfinishedBodies;
  /** The workspace of the client; undefined before it has signed in. */
  readonly workspaceId: () => string | undefined;
  /** Called when a client has sent too much before it has signed in, maybe several times. */
  readonly refuse: () => void;
}

/**
 * Counts the bytes of a message that has not arrived completely among the unfinished bodies, because `ws` keeps them in memory until it
 * has. Limits what a client may send before it has signed in.
 */
export function limitUnfinished(
  ws: WebSocket,
  socket: Socket,
  { unfinishedBodies, workspaceId, refuse }: Limits,
): void {
  const openedAt = socket.bytesRead;
  /** How many of the bytes that were read belong to complete messages. */
  let completeBytes = openedAt;
  const unfinished = unfinishedBodies.begin({ workspaceId, cut: () => ws.terminate() });
  ws.on('message', () => {
    completeBytes = socket.bytesRead;
  });
  // Control frames may come between the fragments of a message.
  const noteControlFrame = ({ length }: Buffer) => {
    completeBytes += length + controlFrameBytes;
  };
  ws.on('ping', noteControlFrame);
  ws.on('pong', noteControlFrame);
  ws.on('close', () => unfinished.end());
  // The library listens first, so it has read the frames of these bytes.
  socket.on('data', () => {
    if (workspaceId() === undefined && socket.bytesRead - openedAt > maxUnsignedBytes) return refuse();
    unfinished.holds(Math.max(socket.bytesRead - completeBytes, 0));
  });
}
