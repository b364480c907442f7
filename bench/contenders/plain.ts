import { join } from 'node:path';
import { token } from '../dataset/fill.ts';
import { kindOf } from '../workloads/all.ts';
import { deepCursor } from './position.ts';
import type { Contender } from './contender.ts';
import { graphRequest } from './graph-requests.ts';

/** The usual implementation: field resolvers and DataLoader, with SQL that is sent as text each time. */
export const plain: Contender = {
  name: 'plain',
  title: 'Yoga + Pothos + DataLoader',
  command: ({ databaseUrl, port }) => server('yoga.ts', databaseUrl, port),
  request: (workload, input) =>
    graphRequest(workload, kindOf(workload) === 'W8' ? deepCursor(input) : input, { token }),
};

/** The same schema and resolvers, compiled by graphql-jit behind Fastify. */
export const mercurius: Contender = {
  ...plain,
  name: 'mercurius',
  title: 'mercurius + graphql-jit',
  command: ({ databaseUrl, port }) => server('mercurius.ts', databaseUrl, port),
};

function server(file: string, databaseUrl: string, port: number) {
  return {
    args: [join(import.meta.dirname, '..', 'servers', 'plain', file)],
    env: { DATABASE_URL: databaseUrl, PORT: String(port) },
  };
}
