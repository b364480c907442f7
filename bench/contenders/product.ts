import { join } from 'node:path';
import { token } from '../dataset/fill.ts';
import { before, repository } from '../repository.ts';
import { kindOf } from '../workloads/all.ts';
import { startCollector } from '../collector.ts';
import type { Command, Contender, Surroundings } from './contender.ts';
import { findDeepCursors } from './deep-cursors.ts';
import { restRequest } from './rest-requests.ts';
import { graphRequest } from './graph-requests.ts';

interface ProductContender extends Contender {
  command(surroundings: Surroundings): Command;
}

/** The product as an operator would start it, in one process and with all checks enabled. */
function productAt(name: string, title: string, checkout: string, dataDir?: string): ProductContender {
  let deepCursors: ReadonlyMap<string, string> = new Map();
  return {
    name,
    title,
    command: ({ databaseUrl, port, directory }) => ({
      // The same heap limits as in `npm start`.
      args: [
        ...(process.env['BENCH_PROFILE']
          ? ['--cpu-prof', '--cpu-prof-dir', process.env['BENCH_PROFILE']]
          : []),
        '--max-semi-space-size=16',
        '--max-old-space-size=512',
        join(checkout, 'bin', 'workgraph.js'),
        'serve',
      ],
      env: {
        ...(dataDir === undefined && { DATABASE_URL: databaseUrl }),
        PORT: String(port),
        DATA_DIR: dataDir ?? directory,
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
    prepare: async (send, facts) => {
      deepCursors = await findDeepCursors(send, facts, token);
    },
  };
}

/**
 * The rate limit is not disabled but raised, because the benchmark is one client that sends the requests of a thousand.
 */
const quotas: Record<string, string> = {
  REQUESTS_PER_MINUTE: '1000000000',
  COST_PER_HOUR: '1000000000',
};

/** The checkout that is measured. */
export const product = productAt('product', 'workgraph', repository);

/** The checkout on the embedded engine, with the database of a data directory. */
export const embeddedProduct = (dataDir: string): Contender =>
  productAt('embedded', 'workgraph, embedded', repository, dataDir);

/** An earlier checkout on the embedded engine, with a database of its own. */
export const embeddedBefore = (dataDir: string, checkout: string): Contender =>
  productAt('before', 'workgraph before, embedded', checkout, dataDir);

/** The same checkout, which sends traces of one request in a hundred to a collector. */
export const traced: Contender = {
  ...product,
  name: 'traced',
  title: 'workgraph with traces of 1 %',
  isOptional: true,
  command: async (surroundings) => {
    const { args, env } = product.command(surroundings);
    const tracing = {
      OTEL_EXPORTER_OTLP_ENDPOINT: await startCollector(),
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    };
    return { args, env: { ...env, ...tracing } };
  },
};

/** The same checkout again: how far its ratio is from 1 tells what the machine adds to every ratio. */
export const twin: Contender = { ...product, name: 'twin', title: 'workgraph again', isOptional: true };

/** An earlier checkout to compare it with, on the same database and in the same rounds, if `BENCH_BEFORE` names one. */
export const previous: readonly Contender[] = before ? [productAt('before', 'workgraph before', before)] : [];
