import { describe } from '@jest/globals';
import { reasonForNoCluster } from '../faults/support/cluster.ts';
import type { ReplicatedSetup } from '../support/replicated-server.ts';

export const consistencyHeader = 'x-workgraph-consistency';

const missing = reasonForNoCluster();

/** Runs the suite where a PostgreSQL with a standby can be started. */
export function describeWithReplica(suite: () => void): void {
  const onReplicas = missing === undefined ? describe : describe.skip;
  onReplicas(
    `a server with a streaming replica${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    suite,
  );
}

export interface Titled {
  title: string;
  key: string;
}

/** What tests do with a server and its replica. `setup` is called when the server has started. */
export function replicaActions(setup: () => ReplicatedSetup) {
  const create = (title: string, token?: string) => {
    const { request, world } = setup();
    return request<Titled>('POST', '/v1/issues', {
      body: { title, teamId: world.teamId, description: '', priority: 0 },
      ...(token && { token }),
    });
  };
  const titleOf = async (key: string, sent: { token?: string; headers?: Record<string, string> }) => {
    const { status, body } = await setup().request<Titled>('GET', `/v1/issues/${key}`, sent);
    return status === 200 ? body.title : status;
  };

  /** Does the work while the standby receives the WAL and does not replay it. */
  async function whilePaused<Result>(work: () => Promise<Result>): Promise<Result> {
    const { standby, primary } = setup();
    await standby.pauseReplay(primary);
    try {
      return await work();
    } finally {
      await standby.resumeReplay();
    }
  }

  /** Sends a query of a token that has written nothing until the replica answers it. */
  async function untilReplicaAnswers(token: string): Promise<void> {
    const server = setup();
    await server.untilServes(true);
    const before = server.served();
    while (server.served() === before) await server.request('GET', '/v1/issues?page_size=1', { token });
  }

  return { create, titleOf, whilePaused, untilReplicaAnswers };
}
