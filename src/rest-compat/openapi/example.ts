import type { CheckedRequest, Route } from '../route.ts';

/** An example request, and the answers of a server with the example workspace. */
export interface Example {
  readonly request: ExampleRequest;
  /** The answers to the request each time that it is sent. A repeated request may have another answer. */
  readonly answers: readonly ExampleAnswer[];
}

/** The parameters and the body of the example. */
export interface ExampleRequest {
  /** The values by parameter, including those of the path. A list for a repeated parameter. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
}

export interface ExampleAnswer {
  readonly status: number;
  /** The headers that depend on the answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The examples by method and path of their routes: `GET /v1/teams`. */
export type Examples = Readonly<Record<string, Example>>;

/** The target of the request: the path with its parameters filled in, and the query. */
export function targetOf(
  path: string,
  { parameters }: ExampleRequest,
): { path: string; query: URLSearchParams } {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(parameters)) {
    const placeholder = `{${name}}`;
    if (path.includes(placeholder)) filled = filled.replace(placeholder, String(value));
    else for (const each of [value].flat()) query.append(name, each);
  }
  return { path: filled, query };
}

/** The variables of the operation for a request. Throws when the request is refused. */
export function variablesOf(route: Route, request: ExampleRequest): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(request.parameters).filter((name) => !Object.hasOwn(route.parameters, name));
  const checked = checkExample(route, request);
  if (unknown.length > 0 || checked.verdict !== 'ready')
    throw new Error(
      `The example of ${route.method} ${route.path} is not a valid request: ${unknown.join(', ')}.`,
    );
  return checked.variables;
}

/** The result of checking the request of an example. */
export function checkExample(route: Route, request: ExampleRequest): CheckedRequest {
  const { query } = targetOf(route.path, request);
  const path = Object.entries(request.parameters).map(([name, value]) => [name, String(value)] as const);
  return route.check({ path: Object.fromEntries(path), query, body: request.body });
}
