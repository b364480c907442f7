import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type ReplicatedSetup, startReplicatedServer } from '../support/replicated-server.ts';
import { describeWithReplica, replicaActions } from './replica-actions.ts';

describeWithReplica(() => {
  let r: ReplicatedSetup;
  beforeAll(async () => {
    r = await startReplicatedServer();
  });
  afterAll(() => r?.stop());
  const { create, titleOf, whilePaused, untilReplicaAnswers } = replicaActions(() => r);

  async function versionSeenBy(token: string): Promise<string | null> {
    const { headers } = await r.graphql('{ viewer { scopes } }', {}, { token });
    return headers.get('x-workspace-version');
  }

  it('reads nothing from another database of the standby', async () => {
    const elsewhere = new URL(r.standby.url);
    elsewhere.pathname = '/template1';
    const database = await openDatabase({ url: r.primary.url }, [elsewhere.href]);
    try {
      const problem = await new Promise<string | undefined>((resolve) => {
        database.replicas?.onChange((_replica, reason) => resolve(reason));
      });
      expect(problem).toMatch(/^its database is not that of DATABASE_URL/);
      expect(database.replicas?.choose(undefined)).toBeUndefined();
    } finally {
      await database.close();
    }
  });

  it('does not let a replica serve that is older than the reference data in memory', async () => {
    const token = await r.newToken();
    await untilReplicaAnswers(token);
    const { workspaceId } = r.world;
    const version = await versionSeenBy(token);
    await whilePaused(async () => {
      const id = newUuid();
      await sql`insert into label (workspace_id, id, name, name_fold, color) values
        (${workspaceId}, ${id}, 'New label', 'new label', 'red')`.execute(r.database.unscoped);
      // The memory hears of the label; from then on, the replica serves nothing.
      await eventually(async () => (await versionSeenBy(token)) !== version);
      const before = r.served();
      const query = '{ issues(first: 1) { nodes { key labels { name } } } }';
      for (let n = 0; n < 5; n += 1)
        expect((await r.graphql(query, {}, { token })).body.errors).toBeUndefined();
      expect(r.served()).toBe(before);
    });
    await untilReplicaAnswers(token);
  });

  it('does not let a replica serve that is more than five seconds behind', async () => {
    await r.untilServes(true);
    await whilePaused(async () => {
      await create('Long ago');
      await r.untilServes(false);
    });
    await expect(r.untilServes(true)).resolves.toBeUndefined();
  });

  it('reads lists with a cursor of the log from the primary', async () => {
    const token = await r.newToken();
    await untilReplicaAnswers(token);
    const before = r.served();
    const { body } = await r.graphql(
      '{ workspace { changeCursor } issues(first: 1) { nodes { key } } }',
      {},
      { token },
    );
    const changes = await r.graphql('{ changes { nodes { eventType } } }', {}, { token });
    expect([body.errors, changes.body.errors, r.served()]).toEqual([undefined, undefined, before]);
  });

  it('answers every request while the replica is killed and started again', async () => {
    const token = await r.newToken();
    await untilReplicaAnswers(token);
    const over = new AbortController();
    const statuses = new Set<number>();
    const reading = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted)
        statuses.add((await r.request('GET', '/v1/issues?page_size=5', { token })).status);
    });
    await r.standby.kill();
    await r.untilServes(false);
    await r.standby.start();
    await untilReplicaAnswers(token);
    over.abort();
    await Promise.all(reading);
    expect([...statuses]).toEqual([200]);
  });

  it('does not use a replica that was promoted', async () => {
    const token = await r.newToken();
    await untilReplicaAnswers(token);
    await r.standby.promote();
    await r.untilServes(false);
    const { body } = await create('After the promotion');
    expect(await titleOf(body.key, { token })).toBe('After the promotion');
  });
});
