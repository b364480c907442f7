import type { GraphAnswer } from './graph-answer.ts';

/**
 * The deterministic content of an answer: of several errors below a field that becomes null, graphql-js reports whichever
 * occurs first, so each of them is replaced by the path of that field.
 */
export function comparable({ data, errors = [] }: Partial<GraphAnswer['body']>): string {
  const paths = errors.map(({ path = [] }) => JSON.stringify(nulledPath(data, path)));
  return JSON.stringify([data, [...new Set(paths)].toSorted()]);
}

function nulledPath(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let value = data;
  for (let depth = 0; depth <= path.length; depth += 1) {
    if (value === null || value === undefined) return path.slice(0, depth);
    value = (value as Record<string | number, unknown>)[path[depth] ?? ''];
  }
  return path;
}

/** Shows the first difference between two answers. */
export function difference(compiled: string, graphqlJs: string): string {
  let at = 0;
  while (compiled[at] === graphqlJs[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - 200), at + 200);
  return `compiled:   ${around(compiled)}\ngraphql-js: ${around(graphqlJs)}`;
}
