import type { Facts } from '../facts.ts';
import type { SendRequest } from './contender.ts';

const pageOf = (arguments_: string) => `query ($cursor: String) {
  issues(${arguments_}, orderBy: { field: CREATED, direction: ASC }) {
    edges { cursor node { id } } pageInfo { startCursor endCursor }
  }
}`;

interface Page {
  readonly data: {
    readonly issues: {
      readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
      readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null };
    };
  };
}

/**
 * Finds the cursors of the deep positions. Cursors are opaque, so it reads page after page from the nearer end of the
 * list.
 */
export async function findDeepCursors(
  send: SendRequest,
  { deep, issueCount }: Facts,
  token: string,
): Promise<Map<string, string>> {
  const wanted = new Set(deep.map(({ id }) => id));
  const found = new Map<string, string>();
  const fromStart = (deep[0]?.row ?? 0) < issueCount / 2;
  const query = pageOf(fromStart ? 'first: 250, after: $cursor' : 'last: 250, before: $cursor');
  let cursor: string | null = null;
  do {
    const body = JSON.stringify({ query, variables: { cursor } });
    const answer = (await send({
      method: 'POST',
      path: '/graphql',
      headers: { Authorization: `Bearer ${token}` },
      body,
    })) as Page;
    const { edges, pageInfo } = answer.data.issues;
    for (const edge of edges) if (wanted.has(edge.node.id)) found.set(edge.node.id, edge.cursor);
    cursor = fromStart ? pageInfo.endCursor : pageInfo.startCursor;
  } while (found.size < wanted.size && cursor !== null);
  return found;
}
