import type { Route } from './route.ts';

/** The routes of a requested path by method, and the texts in the place of braces. */
export interface Found {
  readonly methods: ReadonlyMap<string, Route>;
  /** The value of the Allow header. */
  readonly allow: string;
  readonly parts: Readonly<Record<string, string>>;
}

interface Endpoint {
  /** The segments of the path. A segment in braces matches any text. */
  readonly segments: readonly string[];
  readonly methods: Map<string, Route>;
}

/**
 * Finds the routes of a path as it was sent. The path is not normalized: with an extra slash, another case or an invalid encoding
 * it is another path.
 */
export function createRouter(routes: readonly Route[]): (path: string) => Found | undefined {
  const endpoints = endpointsOf(routes);
  return (path) => {
    const segments = decode(path);
    const endpoint =
      segments && endpoints.get(segments.length)?.find((candidate) => matches(candidate, segments));
    if (!endpoint) return undefined;
    return { methods: endpoint.methods, allow: allowOf(endpoint), parts: partsOf(endpoint, segments) };
  };
}

/** The paths by their number of segments. Those with fewer braces come first. */
function endpointsOf(routes: readonly Route[]): ReadonlyMap<number, readonly Endpoint[]> {
  const byPath = new Map<string, Endpoint>();
  for (const route of routes) {
    const endpoint = byPath.get(route.path) ?? {
      segments: route.path.split('/').slice(1),
      methods: new Map(),
    };
    if (endpoint.methods.has(route.method))
      throw new Error(`${route.method} ${route.path} is declared twice.`);
    endpoint.methods.set(route.method, route);
    byPath.set(route.path, endpoint);
  }
  const literalFirst = [...byPath.values()].toSorted((a, b) => braces(a) - braces(b));
  return Map.groupBy(literalFirst, ({ segments }) => segments.length);
}

function braces({ segments }: Endpoint): number {
  return segments.filter(isPart).length;
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
    isPart(expected) ? segments[index] !== '' : segments[index] === expected,
  );
}

function partsOf(endpoint: Endpoint, segments: readonly string[]): Record<string, string> {
  const named = endpoint.segments.map(
    (expected, index) => [expected.slice(1, -1), segments[index] ?? ''] as const,
  );
  return Object.fromEntries(named.filter((_, index) => isPart(endpoint.segments[index] ?? '')));
}

function allowOf({ methods }: Endpoint): string {
  const allowed = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...allowed, 'OPTIONS'].join(', ');
}

function isPart(segment: string): boolean {
  return segment.startsWith('{');
}
