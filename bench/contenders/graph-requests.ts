import type { Request } from '../http/connection.ts';
import { documents } from '../workloads/documents.ts';
import { isNew, kindOf } from '../workloads/all.ts';
import type { Input } from '../workloads/workload.ts';

const mutations = new Set(['W4', 'W5']);

/** The request of a GraphQL workload in the product's names; undefined if the workload is not GraphQL. */
export function graphRequest(
  workload: string,
  input: Input,
  { path = '/graphql', token }: { path?: string; token: string },
): Request | undefined {
  const kind = kindOf(workload);
  const known = documents[kind];
  if (!known) return undefined;
  const query = isNew(workload) ? renamed(known) : known;
  const variables = mutations.has(kind) ? { input } : input;
  return {
    method: 'POST',
    path,
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  };
}

let documentsSoFar = 0;

/** The same operation with a new name, so that the server has never seen the document. */
function renamed(query: string): string {
  documentsSoFar += 1;
  return query.replace(/query \w+/, (named) => `${named}${documentsSoFar}`);
}
