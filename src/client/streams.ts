import { isObject, parseJsonObject } from './answers.ts';
import { errorOfGraphQL } from './errors.ts';
import { followEvents, type OpenStream, type StreamOptions } from './events.ts';
import type { Document, VariablesAnd } from './graph.ts';
import type { NameDocument } from './manifest.ts';
import type { components, operations } from './rest.generated.ts';

/** An event of a subscription, with the cursor to continue from. */
export type SubscriptionEvent<Data> =
  | { readonly cursor: string; readonly data: EventData<Data>; readonly reset: false }
  /** More has changed than events can report, so the list must be read again. */
  | { readonly cursor: string; readonly data: null; readonly reset: true };

/** The data of an event that is not a reset, in which the field of the subscription is never null. */
type EventData<Data> = Data extends object ? { [Field in keyof Data]: NonNullable<Data[Field]> } : Data;

export type Change = components['schemas']['Change'];

type ChangeParameters = Omit<
  NonNullable<operations['changes']['parameters']['query']>,
  'cursor' | 'page_size' | 'wait'
>;

type ChangeFilter = { readonly [Name in keyof ChangeParameters]?: ChangeParameters[Name] | undefined };

export interface Streams {
  /** The events of a subscription, without an end. A lost connection is opened again, and no event is missed. */
  subscribe<Data, Variables>(
    document: Document<Data, Variables>,
    ...rest: VariablesAnd<Variables, StreamOptions>
  ): AsyncGenerator<SubscriptionEvent<Data>, void, undefined>;
  /** The changes of the workspace as they are made, from `GET /v1/changes`. */
  changes(filter?: ChangeFilter, options?: StreamOptions): AsyncGenerator<Change, void, undefined>;
}

interface StreamSettings {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly longestWaitMs: number;
  readonly nameOf: NameDocument;
}

/** Represents the answer with an event, in the error about an event that does not come from workgraph. */
const eventStreamResponse = { status: 200, headers: new Headers({ 'Content-Type': 'text/event-stream' }) };

export function createStreams(
  url: string,
  headers: Record<string, string>,
  { fetch, longestWaitMs, nameOf }: StreamSettings,
): Streams {
  const headersAfter = (cursor: string | undefined) => ({
    ...headers,
    Accept: 'text/event-stream',
    ...(cursor !== undefined && { 'Last-Event-ID': cursor }),
  });

  async function* subscribe(
    document: Document<unknown, unknown>,
    variables: unknown = {},
    options: StreamOptions = {},
  ) {
    const body = JSON.stringify({ ...nameOf(document), variables });
    const open: OpenStream = (cursor, signal) => {
      const init = { method: 'POST', redirect: 'manual', body, signal } as const;
      const headers = { ...headersAfter(cursor), 'Content-Type': 'application/json' };
      return fetch(new Request(`${url}/graphql`, { ...init, headers }));
    };
    for await (const { event, id = '', data: text } of followEvents(open, options, longestWaitMs)) {
      if (event === 'complete') return;
      const { data, errors, extensions } = parseJsonObject(text, eventStreamResponse);
      if (errors != null) throw errorOfGraphQL(errors);
      const isReset = isObject(extensions) && extensions['reset'] === true;
      yield isReset ? { cursor: id, data: null, reset: true } : { cursor: id, data, reset: false };
    }
  }

  async function* changes(filter: ChangeFilter = {}, options: StreamOptions = {}) {
    const definedParameters = Object.entries(filter).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(definedParameters);
    const open: OpenStream = (cursor, signal) =>
      fetch(
        new Request(`${url}/v1/changes?${query}`, {
          redirect: 'manual',
          headers: headersAfter(cursor),
          signal,
        }),
      );
    for await (const { data } of followEvents(open, options, longestWaitMs))
      yield parseJsonObject(data, eventStreamResponse) as Change;
  }

  return { subscribe: subscribe as Streams['subscribe'], changes };
}
