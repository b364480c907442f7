import type { Request } from '../http/connection.ts';
import { documents } from '../workloads/documents.ts';
import { kindOf } from '../workloads/all.ts';
import type { Input } from '../workloads/workload.ts';

const mutations = new Set(['W4', 'W5']);

/** The request of a graph workload in the product's names; undefined when it is not one. */
export function graphRequest(
  workload: string,
  input: Input,
  { path = '/graphql', token }: { path?: string; token: string },
): Request | undefined {
  const kind = kindOf(workload);
  const query = documents[kind];
  if (!query) return undefined;
  const variables = mutations.has(kind) ? { input } : input;
  return {
    method: 'POST',
    path,
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  };
}
