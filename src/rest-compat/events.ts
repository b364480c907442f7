/** An event of a stream: the place after it, its type, and what is shown of it. */
export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

/** Events that are delivered together, and the place to go on from. */
export interface Delivery {
  readonly events: readonly StreamedEvent[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** The body of a page of a log, of which each entry has its own cursor and type. */
interface LogPage {
  readonly results: readonly { readonly cursor: string; readonly eventType: string }[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** The entries of a page as events. */
export function deliveryOf(body: unknown): Delivery {
  const { results, cursor, hasMore } = body as LogPage;
  const events = results.map((data) => ({ id: data.cursor, type: data.eventType, data }));
  return { events, cursor, hasMore };
}
