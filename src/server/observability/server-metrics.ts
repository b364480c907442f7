import type { Database } from '../../db/engine/engine.ts';
import type { Replicas } from '../../db/engine/replicas.ts';
import type { ReferenceMemory } from '../../reference/memory.ts';
import type { GraphQLHandler } from '../graphql/graphql.ts';
import type { Unsent } from '../http/unsent.ts';
import type { Admission } from '../limits/admission.ts';
import type { WorkspaceShares } from '../limits/workspace-shares.ts';
import type { Webhooks } from '../webhooks.ts';
import type { Metrics } from './metrics.ts';

/** The parts of a server that metrics are read from. */
export interface ServerParts {
  readonly database: Database;
  readonly graphql: GraphQLHandler;
  readonly admission: Admission;
  readonly shares: WorkspaceShares;
  readonly reference: ReferenceMemory;
  readonly unsent: Unsent;
  readonly webhooks: Webhooks;
}

/** Adds the metrics of the parts of a server. */
export function watchServer(
  metrics: Metrics,
  { database, graphql, admission, shares, reference, unsent, webhooks }: ServerParts,
): void {
  metrics.watchPool(database);
  const { replicas } = database;
  if (replicas) watchReplicas(metrics, replicas);
  metrics.gauge({
    name: 'workgraph_plan_cache_documents',
    help: 'Documents of clients that are remembered with their plans',
    read: () => graphql.documents(),
  });
  metrics.gauge({
    name: 'workgraph_reference_data',
    help: 'Reference data in memory: workspaces, and their rows',
    label: 'of',
    read: () => reference.size(),
  });
  metrics.counter({
    name: 'workgraph_reference_checks_total',
    help: 'Looks at the version of reference data that a request waited for, and reads of what had changed',
    label: 'kind',
    read: () => ({ ...reference.counts }),
  });
  metrics.gauge({
    name: 'workgraph_admission_requests',
    help: 'Requests in progress, and those that wait for their turn',
    label: 'state',
    read: () => ({
      in_progress: admission.load.inProgress,
      waiting: admission.load.waiting + shares.load.waiting,
    }),
  });
  metrics.counter({
    name: 'workgraph_admission_refused_total',
    help: 'Requests that were refused because too many were in progress',
    read: () => admission.load.refused + shares.load.refused,
  });
  metrics.gauge({
    name: 'workgraph_unsent_bytes',
    help: 'Bytes of answers that wait for clients to read them',
    read: () => unsent.load.bytes,
  });
  metrics.counter({
    name: 'workgraph_unread_answers_total',
    help: 'Clients that were disconnected because they did not read an answer',
    read: () => unsent.load.cut,
  });
  metrics.counter({
    name: 'workgraph_webhook_attempts_total',
    help: 'Attempts to deliver to webhooks',
    label: 'outcome',
    read: () => ({ ...webhooks.counts }),
  });
  metrics.gauge({
    name: 'workgraph_webhooks_served',
    help: 'Webhooks that this process is delivering to',
    read: () => webhooks.serving,
  });
}

function watchReplicas(metrics: Metrics, replicas: Replicas): void {
  metrics.gauge({
    name: 'workgraph_replica_lag_bytes',
    help: 'How far a replica is behind the primary, in bytes of its log; NaN while that is not known',
    label: 'replica',
    ofWorkers: 'max',
    read: () => replicas.each(({ lagBytes }) => lagBytes),
  });
  metrics.gauge({
    name: 'workgraph_replica_lag_seconds',
    help: 'For how long the primary has had what a replica does not have yet; NaN while that is not known',
    label: 'replica',
    ofWorkers: 'max',
    read: () => replicas.each(({ lagMs }) => lagMs / 1_000),
  });
  metrics.gauge({
    name: 'workgraph_replica_serves',
    help: 'Whether a replica serves queries',
    label: 'replica',
    ofWorkers: 'min',
    read: () => replicas.each(({ serves }) => Number(serves)),
  });
  metrics.counter({
    name: 'workgraph_replica_reads_total',
    help: 'Queries whose statements went to a replica',
    label: 'replica',
    read: () => replicas.each(({ queries }) => queries),
  });
}
