import { join } from 'node:path';
import { token } from '../dataset/fill.ts';
import { kindOf } from '../workloads/all.ts';
import type { Contender } from './contender.ts';
import { restRequest } from './rest-requests.ts';

/**
 * The reference for all ratios: a server with a route for each workload and no query language. Its answers have the
 * product's form.
 */
export const limit: Contender = {
  name: 'limit',
  title: 'LIMIT (hand-written)',
  command: ({ databaseUrl, port }) => ({
    args: [join(import.meta.dirname, '..', 'servers', 'limit', 'server.ts')],
    env: { DATABASE_URL: databaseUrl, PORT: String(port) },
  }),
  request: (workload, input) => {
    const rest = restRequest(workload, input);
    if (rest) return rest;
    return {
      method: 'POST',
      path: `/${kindOf(workload)}`,
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    };
  },
};
