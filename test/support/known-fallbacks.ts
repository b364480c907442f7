import type { Fallback, FallbackKind } from '../../src/executor/run/fallbacks.ts';

/**
 * The reasons for which graphql-js may answer instead of the compiled executor. A refusal is always permitted, because only
 * graphql-js formats refusals as GraphQL requires. So is an outage, which affects graphql-js as well. A fault never is.
 */
const permitted: Readonly<Record<FallbackKind, RegExp>> = {
  // Introspection, and the list whose resolver decides which rows a caller may read.
  'no plan': /^(?:Query\.(?:__schema|__type)|AccessTokenConnection\.\w+)$/,
  // Ids that `node` and `nodes` refuse, and ids of the type whose resolver decides which rows a caller may read.
  bail: /^(?:An id that cannot be read\.|Too many ids\.|Only its resolver knows who may read a token\.)$/,
  refusal: /^/,
  outage: /^/,
  fault: /^(?!)/,
};

export function isKnownFallback({ kind, message }: Fallback): boolean {
  return permitted[kind].test(message);
}
