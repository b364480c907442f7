import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { serve } from '../cli/workgraph.ts';
import { type ClientRequest, Client } from '../faults/support/client.ts';
import { freePort } from '../support/ports.ts';
import { readsOf } from '../faults/support/replica-reads.ts';
import { isGraphqlJs, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { team } from '../support/fixtures.ts';
import { onStatement } from '../../src/db/engine/meter.ts';
import { primaryPositionSql } from '../../src/db/engine/wal-position.ts';
import { hashToken } from '../../src/resolvers/access/access-tokens.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type ReplicatedSetup, startReplicatedServer } from '../support/replicated-server.ts';
import {
  consistencyHeader as header,
  describeWithReplica,
  replicaActions,
  type Titled,
} from './replica-actions.ts';

describeWithReplica(() => {
  let r: ReplicatedSetup;
  beforeAll(async () => {
    r = await startReplicatedServer();
  });
  afterAll(() => r?.stop());
  const { create, titleOf, whilePaused, untilReplicaAnswers } = replicaActions(() => r);

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

  it('shows a client the file that it has uploaded when it sends the header of the upload', async () => {
    const { body: issue } = await create('With a file');
    const reader = await r.newToken();
    await untilReplicaAnswers(reader);
    const path = `/v1/issues/${issue.key}/attachments`;
    await whilePaused(async () => {
      const announced = await r.request<{ attachment: { id: string }; uploadUrl: string }>('POST', path, {
        body: { fileName: 'a.bin', contentType: 'application/octet-stream', sizeBytes: 3 },
      });
      const uploaded = await fetch(announced.body.uploadUrl, { method: 'PUT', body: 'abc' });
      expect(uploaded.status).toBe(204);
      const headers = { [header]: uploaded.headers.get(header) ?? '' };
      const shown = await r.request('GET', `${path}/${announced.body.attachment.id}`, {
        token: reader,
        headers,
      });
      expect(shown.status).toBe(200);
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

  it('shows a token its own writes through any of several workers', async () => {
    await r.untilServes(true);
    const dataDir = mkdtempSync(join(tmpdir(), 'workgraph-read-'));
    const metricsPort = await freePort();
    const serving = await serve(['--workers', '2'], {
      DATABASE_URL: r.primary.url,
      READ_DATABASE_URLS: r.standby.url,
      DATA_DIR: dataDir,
      METRICS_ADDRESS: String(metricsPort),
    });
    const workers = {
      metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    };
    /** Sends a request on a connection of its own, which the system assigns to either worker. */
    const titleFrom = async (token: string, request: ClientRequest) => {
      const client = new Client(serving.url, token);
      const { body } = await client.send(request).finally(() => client.close());
      return (JSON.parse(body) as Titled).title;
    };
    /** The workers that have answered a read. */
    const answering = () => {
      const answers = serving.log().matchAll(/"worker":(\d).*"operation":"Issue"/g);
      return new Set(Array.from(answers, ([, worker]) => worker));
    };
    try {
      const { body } = await create('Before');
      const path = `/v1/issues/${body.key}`;
      const [writer, reader] = [await r.newToken(), await r.newToken()];
      // Each worker reads the reference data at its first request, which the replica must not be older than.
      await eventually(
        async () => (await titleFrom(reader, { path })) === 'Before' && answering().size === 2,
      );
      // A worker that is not ready has no metrics, so this is true of both only now.
      await eventually(async () => (await readsOf(workers)).serves >= 1);
      // The replica must also show what both have heard of since, such as the new tokens, before it shows nothing new.
      await eventually(async () => {
        for (let read = 0; read < 6; read += 1) {
          const { reads } = await readsOf(workers);
          await titleFrom(reader, { path });
          if ((await readsOf(workers)).reads === reads) return false;
        }
        return true;
      });
      const rounds = Array.from({ length: 12 }, (_, round) => `Round ${round}`);
      const seen: string[] = [];
      await whilePaused(async () => {
        for (const title of rounds) {
          await titleFrom(writer, { method: 'PATCH', path, body: { title } });
          seen.push(await titleFrom(writer, { path }));
          // Later the replica could be five seconds behind, and would serve nothing.
          if (seen.length === 1) expect(await titleFrom(reader, { path })).toBe('Before');
        }
      });
      expect(seen).toEqual(rounds);
    } finally {
      await serving.end();
      rmSync(dataDir, { recursive: true });
    }
  });

  it('asks for one position after a write, and for none after a read', async () => {
    const written = await countingPositions(() => create('Counted'));
    const read = await countingPositions(() => r.request('GET', '/v1/issues?page_size=1'));
    expect([written.value.status, written.positions]).toEqual([201, 1]);
    expect([read.value.status, read.positions]).toEqual([200, 0]);
  });

  it('refuses a token that was revoked while the replica shows nothing new', async () => {
    const token = await r.newToken();
    await untilReplicaAnswers(token);
    await whilePaused(async () => {
      const pausedMs = performance.now();
      await sql`update access_token set revoked_utc = now() where token_hash = ${hashToken(token)}`.execute(
        r.database.unscoped,
      );
      await eventually(
        async () => (await r.request('GET', '/v1/issues?page_size=1', { token })).status === 401,
      );
      // Any later the replica would be too far behind to serve, and the primary would be asked in any case.
      expect(performance.now() - pausedMs).toBeLessThan(4_000);
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
});

// graphql-js takes more statements for a write.
(isGraphqlJs ? it.skip : it)('a write takes one statement without replicas', async () => {
  const app = await startApp();
  const { id } = await team(app.database, app.workspaceId);
  const body = { title: 'Counted', teamId: encodeId('team', id), description: '', priority: 0 };
  await app.request('POST', '/v1/issues', { body });
  const { statements, body: issue } = await app.request<Titled>('POST', '/v1/issues', { body });
  const changed = await app.request('PATCH', `/v1/issues/${issue.key}`, { body: { title: 'Again' } });
  expect([statements, changed.statements]).toEqual([1, 1]);
  await app.stop();
});

it('a server without replicas asks for no position, and takes the version in the header', async () => {
  const app = await startApp();
  const { headers } = await app.graphql('{ viewer { scopes } }');
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
  const mutation = 'mutation { webhookDelete(input: { id: "none" }) { deletedWebhookId } }';
  const { value: written, positions } = await countingPositions(() => app.graphql(mutation));
  expect([written.headers.get(header), positions]).toEqual([version, 0]);
  await app.stop();
});

/** Counts how often the position of the primary is asked for beside a request, of which the request's own count knows nothing. */
async function countingPositions<Value>(work: () => Promise<Value>) {
  let positions = 0;
  const stop = onStatement(({ sql: text }) => {
    if (text === primaryPositionSql) positions += 1;
  });
  return { value: await work().finally(stop), positions };
}
