import createClient, { type FetchOptions, type MaybeOptionalInit, type ParseAsResponse } from 'openapi-fetch';
import type {
  FilterKeys,
  HttpMethod,
  MediaType,
  PathsWithMethod,
  Readable,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers';
import { requireMediaType, isObject, parseJsonObject, parseJson } from './answers.ts';
import { errorOfResponse, unexpectedAnswerError, WorkgraphError } from './errors.ts';
import { routesWithoutKey } from './keyless.generated.ts';
import { newKey, type Send, unreachable } from './retries.ts';
import type { paths } from './rest.generated.ts';

type Operation<Path extends keyof paths, Method extends HttpMethod> = paths[Path][Method] &
  Record<string | number, unknown>;

type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Method>;

type InitArguments<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

/** The data of a successful answer. */
type Answer<Path extends keyof paths, Method extends HttpMethod, Options> = ParseAsResponse<
  Readable<SuccessResponse<ResponseObjectMap<Operation<Path, Method>>, MediaType>>,
  Options
>;

/** A call that the server may answer with 304, which has no data. */
type ConditionalCall =
  | { params: { header: { 'If-None-Match': string } } }
  | { headers: { 'If-None-Match': string } };

/** A method of openapi-fetch that throws unless the request succeeds, so `data` is undefined only after a 304. */
type Call<Method extends HttpMethod> = <
  Path extends PathsWithMethod<paths, Method>,
  Options extends Init<Path, Method>,
>(
  path: Path,
  ...init: InitArguments<Options>
) => Promise<{
  data: Answer<Path, Method, Options> | (Options extends ConditionalCall ? undefined : never);
  response: Response;
}>;

/** The item type of a list; `never` if the path is not a list. */
type Item<Path extends keyof paths> =
  Answer<Path, 'get', unknown> extends { results: (infer Item)[]; pagination: unknown } ? Item : never;

/** The paths of the lists that have pages. */
export type ListPath = {
  [Path in PathsWithMethod<paths, 'get'>]: [Item<Path>] extends [never] ? never : Path;
}[PathsWithMethod<paths, 'get'>];

export interface Rest {
  readonly GET: Call<'get'>;
  readonly POST: Call<'post'>;
  readonly PATCH: Call<'patch'>;
  readonly DELETE: Call<'delete'>;
  /** All items of a list, page by page. */
  items<Path extends ListPath>(
    path: Path,
    ...init: InitArguments<FetchOptions<FilterKeys<paths[Path], 'get'>>>
  ): AsyncGenerator<Item<Path>, void, undefined>;
}

/** The paths that redirect to a stored file, which may have any media type. */
type FilePath = {
  [Path in keyof paths]: paths[Path] extends { get: { responses: { 302: unknown } } } ? Path : never;
}[keyof paths];

const filePaths: Readonly<Record<FilePath, true>> = {
  '/v1/issues/{issueKey}/attachments/{attachmentId}/content': true,
  '/v1/issues/{issueKey}/attachments/{attachmentId}/preview': true,
};

interface Page {
  readonly results: readonly unknown[];
  readonly pagination: { readonly nextCursor?: string | null };
}

/** The options of a call that this module reads; openapi-fetch has more. */
interface CallInit {
  readonly params?: object;
  readonly parseAs?: 'json' | 'text' | 'blob' | 'arrayBuffer' | 'stream';
  readonly fetch?: (request: Request) => Promise<Response>;
  readonly signal?: AbortSignal | null;
}

interface Client {
  request(method: string, path: string, init: object): Promise<{ data?: unknown; response: Response }>;
}

export function createRest(baseUrl: string, headers: Record<string, string>, send: Send): Rest {
  // openapi-fetch has a type for each path and method. Here one function calls all of them.
  const client = createClient<paths>({ baseUrl, headers }) as unknown as Client;

  async function call(method: string, path: string, init: CallInit = {}) {
    const { parseAs = 'json', signal, fetch } = init;
    const isJson = parseAs === 'json';
    const isFile = Object.hasOwn(filePaths, path);
    const isKeyed = method !== 'GET' && !routesWithoutKey.has(`${method} ${path}`);
    let answeredRequest: Request | undefined;

    async function sendChecked(request: Request) {
      if (isKeyed && !request.headers.has('Idempotency-Key'))
        request.headers.set('Idempotency-Key', newKey());
      const mayRetry = method === 'GET' || request.headers.has('Idempotency-Key');
      const response = await send(request, { mayRetry, streamsBody: !isJson && parseAs !== 'text', fetch });
      answeredRequest = request;
      if (isEmpty(method, request, response)) return response;
      if (!response.ok) throw await errorOfResponse(response);
      if (!isFile) await requireMediaType(response, isJson);
      return response;
    }

    // Only files are served at another URL than the requested one.
    const redirect = isFile ? 'follow' : 'manual';
    const options = { redirect, ...init, fetch: sendChecked, parseAs: isJson ? 'text' : parseAs };
    const { data, response } = await client.request(method, path, options).catch((error: unknown) => {
      if (!answeredRequest || error instanceof WorkgraphError) throw error;
      signal?.throwIfAborted();
      throw unreachable(answeredRequest, error);
    });
    if (!isJson || (answeredRequest && isEmpty(method, answeredRequest, response))) return { data, response };
    const text = typeof data === 'string' ? data : '';
    return { data: isFile ? parseJson(text, response) : parseJsonObject(text, response), response };
  }

  async function* items(path: string, init: { params?: { query?: object } } = {}) {
    let query: object = init.params?.query ?? {};
    for (;;) {
      const { data, response } = await call('GET', path, { ...init, params: { ...init.params, query } });
      if (!isPage(data)) throw unexpectedAnswerError(response);
      yield* data.results;
      const { nextCursor } = data.pagination;
      if (!nextCursor) return;
      query = { ...query, cursor: nextCursor };
    }
  }

  const methodOf = (method: string) => (path: string, init?: CallInit) => call(method, path, init);
  const [GET, POST, PATCH, DELETE] = ['GET', 'POST', 'PATCH', 'DELETE'].map(methodOf);
  // `Rest` gives these functions back the types of each path.
  return { GET, POST, PATCH, DELETE, items } as unknown as Rest;
}

/**
 * Whether an answer has no body: that to a delete, or to a read that was sent with the tag of the current answer.
 */
function isEmpty(method: string, request: Request, { status }: Response): boolean {
  return method === 'DELETE' ? status === 204 : status === 304 && request.headers.has('If-None-Match');
}

function isPage(data: unknown): data is Page {
  return isObject(data) && Array.isArray(data['results']) && isObject(data['pagination']);
}
