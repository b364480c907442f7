import type { PageTest } from '../reference/page-test.ts';

/** An event of a stream. */
export interface StreamedEvent {
  /** The cursor after the event. */
  readonly id?: string;
  readonly type: string;
  /** JSON, which has no line breaks. */
  readonly json: string;
}

/** Events that are delivered together, and the cursor to continue from. */
export interface EventChunk {
  /** The events in the format of `text/event-stream`, in pieces that are written one after another. */
  readonly pieces: readonly Uint8Array[];
  /** The number of events. */
  readonly count: number;
  readonly cursor: string;
  readonly hasMore: boolean;
  /** Whether the stream ends after it. */
  readonly isLast?: boolean;
  /** The number of objects in it for which the client has not been charged yet. */
  readonly objects?: number;
  /** Set if it contains an error with the request id of one stream, so that other streams must not get it. */
  readonly isUnshareable?: boolean;
}

/** The text of a stream, as it is produced. */
export interface EventStream extends AsyncIterable<string | Uint8Array> {
  /** Called every 15 seconds, so that the sender of the stream can send a heartbeat. */
  onHeartbeat: (() => void) | undefined;
}

/** How the content of a stream is read. */
export interface StreamSource<Context> {
  /** The chunk that is sent at once. */
  readonly first: EventChunk;
  /** Reads what comes after a cursor. Throws if the token may no longer read it. */
  readonly readAfter: (context: Context, cursor: string) => Promise<EventChunk>;
  /** Tests whether a shared page of the log may have events for the stream. */
  readonly pageTest?: PageTest | undefined;
  /** The last chunk, for an error that ends the stream; undefined if the client gets the error when it reconnects. */
  readonly errorChunk?: (error: unknown) => EventChunk | undefined;
  /**
   * A key: streams of the same workspace, scopes and role with an equal key get the same events after the same cursor.
   * Undefined if the stream shares nothing.
   */
  readonly cohort?: string | undefined;
  readonly face: 'graphql' | 'rest';
}

/**
 * TextEncoder allocates a buffer for each text. A waiting stream holds its last chunk, and a slice of Node's buffer
 * pool would keep the whole pool in memory.
 */
const encoder = new TextEncoder();

/** A chunk is written in pieces of about this size. */
const pieceCharacters = 65_536;

/** The chunk of these events. If the cursor is beyond the last event, it is sent as an id without an event. */
export function chunkOf(
  events: readonly StreamedEvent[],
  rest: Pick<EventChunk, 'cursor' | 'hasMore' | 'isLast' | 'objects' | 'isUnshareable'>,
): EventChunk {
  const pieces: Uint8Array[] = [];
  let piece = '';
  for (const event of events) {
    piece += textOf(event);
    if (piece.length < pieceCharacters) continue;
    pieces.push(encoder.encode(piece));
    piece = '';
  }
  if (events.at(-1)?.id !== rest.cursor && !rest.isLast) piece += `id: ${rest.cursor}\n\n`;
  if (piece !== '') pieces.push(encoder.encode(piece));
  return { pieces, count: events.length, ...rest };
}

function textOf({ id, type, json }: StreamedEvent): string {
  const name = id === undefined ? '' : `id: ${id}\n`;
  return `${name}event: ${type}\ndata:${json === '' ? '' : ` ${json}`}\n\n`;
}

/** The body of a page of the log of changes. */
interface LogPage {
  readonly results: readonly { readonly cursor: string; readonly eventType: string }[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** The entries of a page as events. */
export function chunkOfPage(body: unknown): EventChunk {
  const { results, cursor, hasMore } = body as LogPage;
  const events = results.map((item) => ({
    id: item.cursor,
    type: item.eventType,
    json: JSON.stringify(item),
  }));
  return chunkOf(events, { cursor, hasMore });
}

/** The headers of an answer that is a stream of events. */
export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // A proxy must not buffer or compress the events.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;
