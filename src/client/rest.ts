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
import { errorOfResponse } from './errors.ts';
import { routesWithoutKey } from './keyless.generated.ts';
import { newKey } from './retries.ts';
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

/** A method of openapi-fetch that throws unless the request succeeds, so that `data` is always set. */
type Call<Method extends HttpMethod> = <
  Path extends PathsWithMethod<paths, Method>,
  Options extends Init<Path, Method>,
>(
  path: Path,
  ...init: InitArguments<Options>
) => Promise<{ data: Answer<Path, Method, Options>; response: Response }>;

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

type Send = (request: Request, mayRepeat: boolean) => Promise<Response>;

interface Page {
  readonly results: readonly unknown[];
  readonly pagination: { readonly nextCursor?: string | null };
}

export function createRest(baseUrl: string, headers: Record<string, string>, send: Send): Rest {
  const client = createClient<paths>({
    baseUrl,
    headers,
    fetch: (request) => send(request, request.method === 'GET' || request.headers.has('Idempotency-Key')),
  });
  client.use({
    onRequest({ request, schemaPath }) {
      const isKeyed = request.method !== 'GET' && !routesWithoutKey.has(`${request.method} ${schemaPath}`);
      if (isKeyed && !request.headers.has('Idempotency-Key'))
        request.headers.set('Idempotency-Key', newKey());
      return request;
    },
    async onResponse({ response }) {
      // Not modified is an answer to a request with `If-None-Match`.
      if (!response.ok && response.status !== 304) throw await errorOfResponse(response);
    },
  });
  // openapi-fetch also declares an `error` in its results; the middleware above throws it instead.
  const { GET, POST, PATCH, DELETE } = client as unknown as Rest;

  async function* items(path: string, init: { params?: { query?: object } } = {}) {
    const get = GET as unknown as (path: string, init: object) => Promise<{ data: Page }>;
    let query: object = init.params?.query ?? {};
    for (;;) {
      const { data } = await get(path, { ...init, params: { ...init.params, query } });
      yield* data.results;
      const { nextCursor } = data.pagination;
      if (!nextCursor) return;
      query = { ...query, cursor: nextCursor };
    }
  }

  return { GET, POST, PATCH, DELETE, items: items as Rest['items'] };
}
