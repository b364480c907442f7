import { unknownPosition, type WalPosition } from '../../db/engine/wal-position.ts';
import type { SeenVersion } from '../../reference/memory.ts';
import { parseVersion, printVersion } from './version-header.ts';

/**
 * The header with what an answer is based on: the version of the reference data, and, where there are replicas, the position of
 * the primary after the client's last write. A client that sends it back reads nothing older.
 */
export const consistencyHeader = 'x-workgraph-consistency';

/** What a client has seen and written. */
export interface Consistency {
  readonly version: SeenVersion | undefined;
  readonly position: WalPosition | undefined;
}

/** `12.8423` or `12.8423;1.16B374D848`. */
export function printConsistency(version: SeenVersion, position: WalPosition | undefined): string {
  const positionText = position && `;${position.timeline}.${position.bytes.toString(16).toUpperCase()}`;
  return `${printVersion(version)}${positionText ?? ''}`;
}

/**
 * Reads the header. A part with another syntax counts as absent; a position with another syntax counts as one that no server has
 * reached.
 */
export function parseConsistency(header: string | string[] | undefined): Consistency {
  const [version, position, ...others] = String(header ?? '').split(';');
  if (others.length > 0) return { version: undefined, position: unknownPosition };
  return {
    version: parseVersion(version),
    position: position === undefined ? undefined : parsePosition(position),
  };
}

function parsePosition(text: string): WalPosition {
  const [, timeline, bytes] = /^(\d{1,10})\.([0-9A-F]{1,13})$/.exec(text) ?? [];
  if (timeline === undefined || bytes === undefined) return unknownPosition;
  return { timeline: Number(timeline), bytes: Number.parseInt(bytes, 16) };
}
