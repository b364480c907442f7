import type { Sieve } from '../resolvers/changes.ts';

/** An event of a stream: the place after it, its type, and what is shown of it. */
export interface StreamedEvent {
  readonly id?: string;
  readonly type: string;
  /** JSON, which has no line breaks. */
  readonly json: string;
}

/** Events that are delivered together, and the place to go on from. */
export interface Delivery {
  /** The events in the format of `text/event-stream`, in pieces that are written one after another. */
  readonly pieces: readonly Uint8Array[];
  /** How many events these are. */
  readonly count: number;
  readonly cursor: string;
  readonly hasMore: boolean;
  /** Whether the stream ends after it. */
  readonly isLast?: boolean;
  /** The objects in it that are still to be charged to the client. */
  readonly objects?: number;
  /** Whether it is for one client only, although others read the same. */
  readonly isOwn?: boolean;
}

/** The text of a stream. */
export interface EventStream extends AsyncIterable<string | Uint8Array> {
  /** Called every 15 seconds; whoever sends the stream sets it to show that the connection works. */
  onBeat: (() => void) | undefined;
}

/** What a stream is made of. */
export interface StreamSource<Context> {
  /** What the client gets at once. */
  readonly first: Delivery;
  /** Reads what comes after a cursor. Throws if the token may not read it any more. */
  readonly deliver: (context: Context, cursor: string) => Promise<Delivery>;
  /** Finds out whether a shared page of the log has something for the stream. */
  readonly sieve?: Sieve | undefined;
  /** What the client is told of an error that ends the stream; undefined if it learns of it when it comes back. */
  readonly farewell?: (error: unknown) => Delivery | undefined;
  /** Streams of the same workspace, scopes and role with the same text here deliver the same after the same cursor. */
  readonly cohort?: string | undefined;
  readonly face: 'graphql' | 'rest';
}

/** A waiting stream keeps its last delivery: with a part of a pooled buffer, it would keep all of that. */
const encoder = new TextEncoder();

/** A delivery is written in pieces of about this size. */
const pieceCharacters = 65_536;

/** The delivery of these events. A cursor after the last event is told as well, as an id without an event. */
export function deliveryOf(
  events: readonly StreamedEvent[],
  rest: Pick<Delivery, 'cursor' | 'hasMore' | 'isLast' | 'objects' | 'isOwn'>,
): Delivery {
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

/** The body of a page of a log, of which each entry has its own cursor and type. */
interface LogPage {
  readonly results: readonly { readonly cursor: string; readonly eventType: string }[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** The entries of a page as events. */
export function deliveryOfPage(body: unknown): Delivery {
  const { results, cursor, hasMore } = body as LogPage;
  const events = results.map((item) => ({
    id: item.cursor,
    type: item.eventType,
    json: JSON.stringify(item),
  }));
  return deliveryOf(events, { cursor, hasMore });
}

/** The headers of an answer that is a stream of events. */
export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must neither keep events back nor compress them.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;
