import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { whyNoCluster } from '../faults/support/cluster.ts';
import { startApp } from '../support/app.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { type Replicated, replicated } from '../support/replicated.ts';

const header = 'x-workgraph-consistency';
const missing = whyNoCluster();
const onReplicas = missing === undefined ? describe : describe.skip;

interface Titled {
  title: string;
  key: string;
}

onReplicas(
  `a server with a streaming replica${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let r: Replicated;
    beforeAll(async () => {
      r = await replicated();
    }, 120_000);
    afterAll(() => r?.stop());

    const create = (title: string, token?: string) =>
      r.request<Titled>('POST', '/v1/issues', {
        body: { title, teamId: r.world.teamId, description: '', priority: 0 },
        ...(token && { token }),
      });
    const titleOf = async (key: string, sent: { token?: string; headers?: Record<string, string> }) => {
      const { status, body } = await r.request<Titled>('GET', `/v1/issues/${key}`, sent);
      return status === 200 ? body.title : status;
    };

    /** Does the work while the standby receives the log and shows nothing new. */
    async function whilePaused<Result>(work: () => Promise<Result>): Promise<Result> {
      await r.standby.pauseReplay(r.primary);
      try {
        return await work();
      } finally {
        await r.standby.resumeReplay();
      }
    }

    /** Sends a query of a token that has written nothing until the replica answers it. */
    async function untilReplicaAnswers(token: string): Promise<void> {
      await r.untilServes(true);
      const before = r.served();
      while (r.served() === before) await r.request('GET', '/v1/issues?page_size=1', { token });
    }

    async function versionSeenBy(token: string): Promise<string | null> {
      const { headers } = await r.graphql('{ viewer { scopes } }', {}, { token });
      return headers.get('x-workspace-version');
    }

    it('sends the queries of a token that has written nothing to the replica', async () => {
      const { body } = await create('On both');
      const token = await r.newToken();
      await untilReplicaAnswers(token);
      const before = r.served();
      expect(await titleOf(body.key, { token })).toBe('On both');
      expect(r.served()).toBe(before + 1);
    });

    it('shows a client its own writes when it sends the header back, and others the replica', async () => {
      const [reader, other] = [await r.newToken(), await r.newToken()];
      await untilReplicaAnswers(reader);
      await whilePaused(async () => {
        for (let n = 0; n < 10; n += 1) {
          const created = await create(`Paused ${n}`);
          const seen = created.headers.get(header) ?? '';
          expect(seen).toMatch(/^\d+\.\d+;\d+\.[0-9A-F]+$/);
          expect(await titleOf(created.body.key, { token: reader, headers: { [header]: seen } })).toBe(
            `Paused ${n}`,
          );
          // This one has not seen the write, and the replica does not have it.
          if (n === 0) expect(await titleOf(created.body.key, { token: other })).toBe(404);
        }
      });
    });

    it('shows a token its own writes for a while without the header', async () => {
      const writer = await r.newToken();
      await untilReplicaAnswers(writer);
      await whilePaused(async () => {
        const { body } = await create('By the writer', writer);
        expect(await titleOf(body.key, { token: writer })).toBe('By the writer');
        expect(await titleOf(body.key, { token: await r.newToken() })).toBe(404);
      });
    });

    it('gives the position back with reads, so that a client needs to return only the last header', async () => {
      const created = await create('Returned');
      const seen = created.headers.get(header) ?? '';
      const read = await r.request('GET', '/v1/issues?page_size=1', { headers: { [header]: seen } });
      expect(read.headers.get(header)?.split(';')[1]).toBe(seen.split(';')[1]);
      expect(read.headers.get('x-workspace-version')).toBe(read.headers.get(header)?.split(';')[0]);
    });

    it.each([['1.1;0.0'], ['1.1;99999.FF'], ['1.1;1.FFFFFFFFFFFFF'], ['1.1;nonsense'], ['a;b;c']])(
      'reads from the primary for a position that no replica has: %s',
      async (seen) => {
        const token = await r.newToken();
        await untilReplicaAnswers(token);
        const before = r.served();
        const { status } = await r.request('GET', '/v1/issues?page_size=1', {
          token,
          headers: { [header]: seen },
        });
        expect([status, r.served()]).toEqual([200, before]);
      },
    );

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
        while ((await versionSeenBy(token)) === version);
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
      await r.untilServes(true);
    }, 30_000);

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
    }, 60_000);

    it('does not use a replica that was promoted', async () => {
      const token = await r.newToken();
      await untilReplicaAnswers(token);
      await r.standby.promote();
      await r.untilServes(false);
      const { body } = await create('After the promotion');
      expect(await titleOf(body.key, { token })).toBe('After the promotion');
    });
  },
);

it('a server without replicas sends no statement for the header, and takes the version in it', async () => {
  const app = await startApp();
  const query = 'mutation { webhookDelete(input: { id: "none" }) { deletedWebhookId } }';
  const { headers, statements } = await app.graphql('{ viewer { scopes } }');
  const version = headers.get('x-workspace-version') ?? '';
  expect(headers.get(header)).toBe(version);
  const later = `${Number(version.split('.')[0]) + 1}.1`;
  // A version that no process has is looked for once.
  const seen = await app.graphql('{ teams { totalCount } }', {}, { headers: { [header]: later } });
  const old = await app.graphql(
    '{ teams { totalCount } }',
    {},
    { headers: { 'x-workspace-version': later } },
  );
  expect(seen.statements).toBe(old.statements);
  const written = await app.graphql(query);
  expect([written.headers.get(header), statements]).toEqual([version, statements]);
  await app.stop();
});
