import { setImmediate } from 'node:timers/promises';
import { listen } from '../live/event-stream.ts';
import { numberAllChanges } from '../live/logged.ts';
import type { Answer, App } from './app.ts';

interface GraphQLBody {
  data?: unknown;
  errors?: readonly { message: string; extensions?: Record<string, unknown> }[];
}

/** Reads the events of a subscription for all changes so far. Returns them as `data`, or the refusal of the stream. */
export async function readSubscription(
  app: Pick<App, 'url' | 'database'>,
  query: string,
  variables: object,
  { token }: { token: string },
): Promise<Answer<GraphQLBody>> {
  await numberAllChanges(app.database);
  const headers = { 'Last-Event-ID': 'c1-0-0' };
  const body = JSON.stringify({ query, variables });
  let stream = await listen(`${app.url}/graphql`, token, headers, body);
  // The server may not have noticed yet that earlier streams of the token were closed.
  while (stream.response.status === 429) {
    await setImmediate();
    stream = await listen(`${app.url}/graphql`, token, headers, body);
  }
  const { status, headers: responseHeaders } = stream.response;
  const timing = responseHeaders.get('Server-Timing') ?? '';
  const statements = Number(/desc="(\d+) statements"/.exec(timing)?.[1] ?? -1);
  if (status !== 200) {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        ...headers,
        Authorization: `Bearer ${token}`,
        Accept: 'text/event-stream',
        'Content-Type': 'application/json',
      },
      body,
    });
    return { status, headers: responseHeaders, body: (await response.json()) as GraphQLBody, statements };
  }
  const events: unknown[] = [];
  // The first batch of events ends with the id of the end of the log, even if no event has that id.
  for (let id = stream.lastId(); !(await isAtEnd(app, id)); ) id = await stream.idAfter(id);
  for (let left = stream.count(); left > 0; left -= 1) events.push((await stream.next()).data);
  stream.stop();
  return { status, headers: responseHeaders, body: { data: events }, statements };
}

async function isAtEnd({ database }: Pick<App, 'database'>, id: string): Promise<boolean> {
  const heads = await database.unscoped.selectFrom('changeHead').select(['position', 'tag']).execute();
  return heads.some(({ position, tag }) => id === `c1-${position}-${tag.toString(36)}`) || id === 'c1-0-0';
}
