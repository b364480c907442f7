import type { Fallback, FallbackKind } from '../../src/executor/fallbacks.ts';

export type FallbackSeen = Fallback;

/**
 * Why graphql-js may answer in place of the compiled executor. A refusal is always known, because only graphql-js words
 * a refusal as GraphQL does, and so is an outage, which graphql-js only meets again. A fault never is.
 */
const known: Readonly<Record<FallbackKind, RegExp>> = {
  // Introspection, and the two lists that only their resolvers may open.
  'no plan': /^(?:Query\.(?:__schema|__type)|(?:AccessToken|AuditEntry)Connection\.\w+)$/,
  // `node` and `nodes`: what they refuse, and the same two types by their ids.
  bail: /^(?:An id that cannot be read\.|Too many ids\.|Only its resolver knows who may read a (?:token|audit|webhook|whdelivery)\.)$/,
  refusal: /^/,
  outage: /^/,
  fault: /^(?!)/,
};

export function isKnownFallback({ kind, message }: FallbackSeen): boolean {
  return known[kind].test(message);
}
