import type { App } from '../support/app.ts';
import { type EventReader, listen } from './event-stream.ts';
import { numberAllChanges } from './logged.ts';

/** An answer of a subscription to `changes` or `issues`. */
export interface StreamAnswer {
  data?: Record<string, Record<string, unknown>> | null;
  errors?: { message: string; extensions: { code: string } }[];
  extensions?: Record<string, unknown>;
}

interface Options {
  token: string;
  headers?: Record<string, string>;
  method?: 'GET' | 'POST';
}

/** Opens a subscription as a client does. */
export function subscribe(
  app: App,
  query: string,
  variables: object,
  { token, headers = {}, method = 'POST' }: Options,
): Promise<EventReader> {
  const parameters = { query, variables: JSON.stringify(variables) };
  return method === 'GET'
    ? listen(`${app.url}/graphql?${new URLSearchParams(parameters).toString()}`, token, headers)
    : listen(`${app.url}/graphql`, token, headers, JSON.stringify({ query, variables }));
}

/** The next answer of a stream, with its id. */
export async function nextAnswer(
  stream: EventReader,
): Promise<{ id: string; answer: StreamAnswer; type: string }> {
  const { id, type, data } = await stream.next();
  return { id, type, answer: data };
}

/** Waits until a stream has received the newest change, or the cursor after it. */
export async function untilCaughtUp(app: App, stream: EventReader): Promise<void> {
  const newest = await newestCursor(app);
  while (stream.lastId() !== newest) await stream.idAfter(stream.lastId());
}

/** The cursor of the newest change, after all changes have received their positions. */
export async function newestCursor(app: App): Promise<string> {
  await numberAllChanges(app.database);
  const { body } = await app.graphql<{ workspace: { changeCursor: string } }>(
    '{ workspace { changeCursor } }',
  );
  return body.data?.workspace.changeCursor ?? '';
}
