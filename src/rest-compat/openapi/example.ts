import type { Judged, Route } from '../route.ts';

/** A request, and what a server with the workspace of the examples answers to it. */
export interface Example {
  readonly request: ExampleRequest;
  /** Of the request as often as it is sent; to send it again may have another answer. */
  readonly answers: readonly ExampleAnswer[];
}

/** What stands in the place of a route's parameters and its body. */
export interface ExampleRequest {
  /** By the name of the parameter, those of the path among them; a list where it is repeated. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
}

export interface ExampleAnswer {
  readonly status: number;
  /** Those that belong to the answer alone. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The examples by the method and path of their routes: `GET /v1/teams`. */
export type Examples = Readonly<Record<string, Example>>;

/** Where the request goes: the path with its parameters filled in, and the query. */
export function targetOf(
  path: string,
  { parameters }: ExampleRequest,
): { path: string; query: URLSearchParams } {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(parameters)) {
    const brace = `{${name}}`;
    if (path.includes(brace)) filled = filled.replace(brace, String(value));
    else for (const each of [value].flat()) query.append(name, each);
  }
  return { path: filled, query };
}

/** What the operation of a route is run with for a request; throws when the request is refused. */
export function variablesOf(route: Route, request: ExampleRequest): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(request.parameters).filter((name) => !Object.hasOwn(route.parameters, name));
  const judged = judgeExample(route, request);
  if (unknown.length > 0 || judged.verdict !== 'ready')
    throw new Error(
      `The example of ${route.method} ${route.path} is no request of it: ${unknown.join(', ')}.`,
    );
  return judged.variables;
}

/** The judgement of a route on the request of its example. */
export function judgeExample(route: Route, request: ExampleRequest): Judged {
  const { query } = targetOf(route.path, request);
  const path = Object.entries(request.parameters).map(([name, value]) => [name, String(value)] as const);
  return route.judge({ path: Object.fromEntries(path), query, body: request.body });
}
