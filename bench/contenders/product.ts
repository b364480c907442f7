import { join } from 'node:path';
import { token } from '../dataset/fill.ts';
import { repository } from '../repository.ts';
import { kindOf } from '../workloads/all.ts';
import type { Contender } from './contender.ts';
import { findDeepCursors } from './deep-cursors.ts';
import { restRequest } from './rest-requests.ts';
import { graphRequest } from './graph-requests.ts';

let deepCursors: ReadonlyMap<string, string> = new Map();

/** One process as an operator would start it, with all checks enabled. */
export const product: Contender = {
  name: 'product',
  title: 'workgraph',
  command: ({ databaseUrl, port, directory }) => ({
    // The same heap limits as in `npm start`.
    args: [
      '--max-semi-space-size=16',
      '--max-old-space-size=512',
      join(repository, 'bin', 'workgraph.js'),
      'serve',
    ],
    env: {
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      DATA_DIR: directory,
      LOG_LEVEL: 'warn',
      ...quotas,
    },
  }),
  request: (workload, input) => {
    if (kindOf(workload) !== 'W8')
      return restRequest(workload, input) ?? graphRequest(workload, input, { token });
    const { after } = input as { after?: { id: string } };
    return graphRequest(workload, after ? { after: deepCursors.get(after.id) } : {}, { token });
  },
  prepare: async (ask, facts) => {
    deepCursors = await findDeepCursors(ask, facts, token);
  },
};

/**
 * The rate limit is not disabled but raised, because the benchmark is one client that sends the requests of a thousand.
 */
const quotas: Record<string, string> = {
  REQUESTS_PER_MINUTE: '1000000000',
  COST_PER_HOUR: '1000000000',
};
