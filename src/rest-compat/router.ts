import type { Route } from './route.ts';

/** The routes of a requested path by method, and the values of its parameters. */
export interface RouteMatch {
  readonly methods: ReadonlyMap<string, Route>;
  /** The value of the Allow header. */
  readonly allow: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

interface Endpoint {
  /** The segments of the path. A segment in braces matches any text. */
  readonly segments: readonly string[];
  /** The names of the parameters, which are the segments in braces, with the positions of these segments. */
  readonly parameters: readonly (readonly [name: string, position: number])[];
  readonly methods: Map<string, Route>;
  /** The value of the Allow header. */
  allow: string;
}

/**
 * Finds the routes of a path as it was sent. The path is not normalized: with an extra slash, another case or an
 * invalid encoding it is another path.
 */
export function createRouter(routes: readonly Route[]): (path: string) => RouteMatch | undefined {
  const endpoints = endpointsOf(routes);
  return (path) => {
    const segments = decode(path);
    const endpoint =
      segments && endpoints.get(segments.length)?.find((candidate) => matches(candidate, segments));
    if (!endpoint) return undefined;
    const pathParameters = Object.fromEntries(
      endpoint.parameters.map(([name, position]) => [name, segments[position] ?? '']),
    );
    return { methods: endpoint.methods, allow: endpoint.allow, pathParameters };
  };
}

/** The paths by their number of segments. Paths with fewer parameters come first. */
function endpointsOf(routes: readonly Route[]): ReadonlyMap<number, readonly Endpoint[]> {
  const byPath = new Map<string, Endpoint>();
  for (const route of routes) {
    const endpoint = byPath.get(route.path) ?? newEndpoint(route.path);
    if (endpoint.methods.has(route.method))
      throw new Error(`${route.method} ${route.path} is declared twice.`);
    endpoint.methods.set(route.method, route);
    endpoint.allow = allowOf(endpoint);
    byPath.set(route.path, endpoint);
  }
  const literalFirst = [...byPath.values()].toSorted((a, b) => a.parameters.length - b.parameters.length);
  return Map.groupBy(literalFirst, ({ segments }) => segments.length);
}

function newEndpoint(path: string): Endpoint {
  const segments = path.split('/').slice(1);
  const parameters = segments.flatMap((segment, position) =>
    isParameter(segment) ? [[segment.slice(1, -1), position] as const] : [],
  );
  return { segments, parameters, methods: new Map(), allow: '' };
}

function decode(path: string): string[] | undefined {
  const segments = path.split('/').slice(1);
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function matches(endpoint: Endpoint, segments: readonly string[]): boolean {
  return endpoint.segments.every((expected, index) =>
    isParameter(expected) ? segments[index] !== '' : segments[index] === expected,
  );
}

function allowOf({ methods }: Pick<Endpoint, 'methods'>): string {
  const allowed = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...allowed, 'OPTIONS'].join(', ');
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}
