import { join } from 'node:path';
import { token } from '../dataset/fill.ts';
import { workspaceId } from '../dataset/ids.ts';
import { typeId, uuidOf } from '../servers/type-id.ts';
import { kindOf } from '../workloads/all.ts';
import type { Input } from '../workloads/workload.ts';
import type { Contender } from './contender.ts';
import { canonical } from './postgraphile-answers.ts';
import { deepCursors, documents } from './postgraphile-documents.ts';

let cursors: ReadonlyMap<string, string> = new Map();

/**
 * A GraphQL API that is generated from the tables. It has no writes here, because their rules would have to be written
 * in SQL.
 */
export const postgraphile: Contender = {
  name: 'postgraphile',
  title: 'PostGraphile 5',
  readyPath: '/graphql',
  command: ({ databaseUrl, port }) => ({
    args: [join(import.meta.dirname, '..', 'servers', 'postgraphile', 'server.ts')],
    env: { DATABASE_URL: databaseUrl, PORT: String(port), GRAPHILE_ENV: 'production' },
  }),
  request: (workload, input) => {
    const query = documents[kindOf(workload)];
    return query ? post(query, variablesOf(kindOf(workload), input)) : undefined;
  },
  canonical,
  prepare: async (send, { deep }) => {
    const variables = { offset: (deep[0]?.row ?? 1) - 1, first: deep.length };
    const answer = (await send(post(deepCursors, variables))) as {
      data: { issues: { edges: { cursor: string; node: { rowId: string } }[] } };
    };
    cursors = new Map(
      answer.data.issues.edges.map(({ cursor, node }) => [typeId('issue', node.rowId), cursor]),
    );
  },
};

function post(query: string, variables: Input) {
  const body = JSON.stringify({ query, variables: { workspaceId, ...variables } });
  return { method: 'POST', path: '/graphql', headers: { Authorization: `Bearer ${token}` }, body } as const;
}

function variablesOf(kind: string, input: Input): Input {
  const { teamId, key, after } = input as { teamId?: string; key?: string; after?: { id: string } };
  if (kind === 'W2') return { ...input, teamId: uuidOf('team', teamId) };
  if (kind === 'W3') return { code: key?.split('-')[0], number: Number(key?.split('-')[1]) };
  if (kind === 'W8') return after ? { after: cursors.get(after.id) } : {};
  return input;
}
