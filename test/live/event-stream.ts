/** A parsed event of `text/event-stream`. */
export interface ServerEvent {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

/** A stream that a client reads event by event. */
export interface EventReader {
  response: Response;
  /** The next event; throws when the stream has ended. */
  next(): Promise<ServerEvent>;
  /** The number of received events that `next` has not returned yet. */
  count(): number;
  /** The id of the last event, with or without data, from which to continue. */
  lastId(): string;
  /** Waits until the id of the last event differs from this one, and returns it; throws if the stream ends first. */
  idAfter(id: string): Promise<string>;
  /** The last `retry` of the server: the milliseconds after which the client should reconnect. */
  retryMs(): number;
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  stop(): void;
}

/** Opens a stream of events with fetch, by POST if there is a body, and parses it as the HTML standard requires. */
export async function listen(
  url: string,
  token: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<EventReader> {
  const controller = new AbortController();
  const response = await fetch(url, {
    ...(body !== undefined && { method: 'POST', body }),
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'text/event-stream',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    signal: controller.signal,
  });
  const queue: ServerEvent[] = [];
  let lastId = '';
  let retryMs = Number.NaN;
  let wake: (() => void) | undefined;
  let isOver = false;
  const end = Promise.withResolvers<void>();
  const read = async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = new Map(
          block
            .split('\n')
            .filter((line) => !line.startsWith(':'))
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
        );
        lastId = fields.get('id') ?? lastId;
        retryMs = Number(fields.get('retry') ?? retryMs);
        const data = fields.get('data');
        if (data !== undefined)
          queue.push({
            id: lastId,
            type: fields.get('event') ?? 'message',
            data: JSON.parse(data || '{}') as ServerEvent['data'],
          });
      }
      wake?.();
    }
  };
  read()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
      wake?.();
      end.resolve();
    });
  const waitForMore = async () => {
    if (isOver) throw new Error('The stream has ended.');
    await new Promise<void>((resolve) => (wake = resolve));
  };
  return {
    response,
    next: async () => {
      for (;;) {
        const event = queue.shift();
        if (event) return event;
        await waitForMore();
      }
    },
    count: () => queue.length,
    lastId: () => lastId,
    idAfter: async (id) => {
      for (;;) {
        if (lastId !== id) return lastId;
        await waitForMore();
      }
    },
    retryMs: () => retryMs,
    ended: end.promise,
    stop: () => controller.abort(),
  };
}
