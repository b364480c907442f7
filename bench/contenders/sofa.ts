import { join } from 'node:path';
import { kindOf } from '../workloads/all.ts';
import type { Contender } from './contender.ts';
import { restRequest } from './rest-requests.ts';

const has = new Set(['W6', 'W10']);

/** A REST API that is generated from a GraphQL schema, over the resolvers of the contender `plain`. */
export const sofa: Contender = {
  name: 'sofa',
  title: 'sofa-api',
  command: ({ databaseUrl, port }) => ({
    args: [join(import.meta.dirname, '..', 'servers', 'sofa', 'server.ts')],
    env: { DATABASE_URL: databaseUrl, PORT: String(port) },
  }),
  request: (workload, input) => (has.has(kindOf(workload)) ? restRequest(workload, input) : undefined),
};
