import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CommandDef, SubCommandsDef } from 'citty';
import { sql } from 'kysely';
import { commands } from '../../src/cli/commands.ts';
import { type AuditAct, auditActs } from '../../src/model/audit-acts.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { schema } from '../../src/schema/index.ts';
import { type App, startApp } from '../support/app.ts';
import { member } from '../support/fixtures.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import { webhookCalls } from '../webhooks/calls.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { inProcess } from '../cli/workgraph.ts';

// For each mutation and command, this file declares which acts it enters in the audit log. A new one has to be added here.

let app: App;
let memberId: string;
const seen = new Set<AuditAct>();
beforeAll(async () => {
  app = await startApp({ settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });
  memberId = encodeId('member', (await member(app.database, app.workspaceId)).id);
});
afterAll(() => app.stop());

const create = `mutation ($input: AccessTokenCreateInput!) {
  accessTokenCreate(input: $input) { token accessToken { id } }
}`;
const mint = async () => {
  const input = { name: 'another', scopes: ['teams:read'], memberId };
  const { body } = await app.graphql<{ accessTokenCreate: { accessToken: { id: string } } }>(create, {
    input,
  });
  return body.data?.accessTokenCreate.accessToken.id ?? '';
};

/** Mutations of issues have entries in the feeds of the issues instead. */
const mutations: Record<string, { acts: AuditAct[]; run: () => Promise<unknown> }> = {
  accessTokenCreate: { acts: ['access-token.created'], run: mint },
  accessTokenRevoke: {
    acts: ['access-token.created', 'access-token.revoked'],
    run: async () =>
      app.graphql('mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id } } }', {
        id: await mint(),
      }),
  },
  webhookCreate: {
    // It must not receive anything when the commands below change something.
    acts: ['webhook.created', 'webhook.deleted'],
    run: async () => {
      const { webhook } = await webhookCalls(app).call('webhookCreate', { url: 'https://example.com/' });
      return webhookCalls(app).call('webhookDelete', { id: webhook.id });
    },
  },
  webhookUpdate: {
    acts: ['webhook.updated'],
    run: async () =>
      webhookCalls(app).call('webhookUpdate', { id: (await stored()).webhook, state: 'DISABLED' }),
  },
  webhookSecretRotate: {
    acts: ['webhook.updated'],
    run: async () => webhookCalls(app).call('webhookSecretRotate', { id: (await stored()).webhook }),
  },
  webhookDelete: {
    acts: ['webhook.deleted'],
    run: async () => webhookCalls(app).call('webhookDelete', { id: (await stored()).webhook }),
  },
  webhookPing: {
    acts: ['webhook.pinged'],
    run: async () => webhookCalls(app).call('webhookPing', { id: (await stored()).webhook }),
  },
  webhookDeliveryRedeliver: {
    acts: ['webhook.redelivered'],
    run: async () => webhookCalls(app).call('webhookDeliveryRedeliver', { ids: [(await stored()).delivery] }),
  },
};

/** Stores a webhook that sends nothing. */
async function stored(): Promise<{ webhook: string; delivery: string }> {
  const db = app.database.of(app.workspaceId);
  const { webhookId, deliveryId } = await storeWebhook(db, app.ownerUserAccountId);
  return { webhook: encodeId('webhook', webhookId), delivery: encodeId('whdelivery', deliveryId) };
}

/**
 * The arguments of each command, the acts that it enters, and its exit code if it must fail here. A command without acts must
 * not change the database.
 */
const runs: Record<
  string,
  { acts: AuditAct[]; words: () => string[] | Promise<string[]>; exitCode?: number }
> = {
  audit: { acts: [], words: () => ['--workspace', 'Test', '--json'] },
  verify: { acts: [], words: () => [] },
  // It moves rows to the nodes of a cluster, which is not here, and changes none.
  distribute: { acts: [], words: () => [], exitCode: 1 },
  'token list': { acts: [], words: () => ['--workspace', 'Test'] },
  'workspace list': { acts: [], words: () => [] },
  'token create': {
    acts: ['access-token.created'],
    words: () => ['--workspace', 'Test', '--member', memberId],
  },
  'token revoke': { acts: ['access-token.revoked'], words: async () => [await mint()] },
  'workspace create': {
    acts: ['workspace.created', 'access-token.created'],
    words: () => ['--name', 'Made', '--owner', 'Mona'],
  },
  'directory apply': {
    // A member, a team, and the five default statuses of a team.
    acts: [...Array.from({ length: 7 }, () => 'directory.created' as const), 'directory.updated'],
    words: () => [
      file(
        'directory.yaml',
        `members:
  - { emailAddress: new@example.com, displayName: Nele New }
  - { emailAddress: role@example.com, displayName: Rolf Role, role: admin }
teams: [{ code: AUD, name: Audit }]\n`,
      ),
      '--workspace',
      'Test',
    ],
  },
  'changes reset': { acts: ['changes.reset'], words: () => ['--workspace', 'Test'] },
  export: { acts: ['export.started'], words: () => ['--workspace', 'Test'] },
  import: {
    acts: ['import.started', 'import.finished'],
    words: () => [
      file(
        'issues.jsonl',
        `${JSON.stringify({ id: 'b-1', title: 'One', status: 'open', priority: 2, issue_type: 'task' })}\n`,
      ),
      '--from',
      'beads',
      '--team',
      'AUD',
      '--workspace',
      'Test',
    ],
  },
  // The importer loads the demo, and enters the same acts as for any other file.
  seed: {
    acts: ['workspace.created', 'import.started', 'import.finished', 'access-token.created'],
    words: () => ['--json'],
  },
};

function file(name: string, text: string): string {
  const path = join(app.dataDir, name);
  writeFileSync(path, text);
  return path;
}

const acts = async () => {
  const rows = await app.database.unscoped.selectFrom('auditEntry').selectAll().orderBy('id').execute();
  return rows.map((row) => ({ ...row, act: row.act as AuditAct }));
};

/** Runs the work, and returns the entries that it added. */
async function entered(run: () => Promise<unknown>) {
  const before = new Set((await acts()).map(({ id }) => id));
  await run();
  const added = (await acts()).filter(({ id }) => !before.has(id));
  for (const { act } of added) seen.add(act);
  return added;
}

/** All rows of all tables, without the times of the last use of tokens. */
async function fingerprint(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'change%' order by 1`.execute(
    app.database.unscoped.withoutPlugins(),
  );
  expect(tables.length).toBeGreaterThan(30);
  const prints = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ print: string }>`
        select md5(coalesce(string_agg((to_jsonb(t) - 'last_used_utc')::text, '' order by to_jsonb(t)::text), '')) as print
        from ${sql.table(name)} t`.execute(app.database.unscoped.withoutPlugins());
      return `${name} ${rows[0]?.print}`;
    }),
  );
  // The sequencer moves changes from one table to the other at any moment, so both are read as one.
  const { rows: changes } = await sql<{ id: string }>`
    select change_id::text as id from change_inbox union all select id::text from change order by 1`.execute(
    app.database.unscoped.withoutPlugins(),
  );
  return [...prints, ...changes.map(({ id }) => id)].join('\n');
}

describe('mutations', () => {
  const administrative = Object.values(schema.getMutationType()?.getFields() ?? {})
    .filter(({ extensions }) => extensions.scope !== 'issues:write')
    .map(({ name }) => name);

  it('of other objects than issues are all in the table above', () => {
    expect(administrative.toSorted()).toEqual(Object.keys(mutations).toSorted());
  });

  it.each(Object.keys(mutations))('%s enters the act with its actor, time and origin', async (name) => {
    const { acts: expected, run } = mutations[name] ?? { acts: [], run: () => Promise.resolve() };
    const added = await entered(run);
    expect(added.map(({ act }) => act)).toEqual(expected);
    for (const entry of added) {
      expect(entry).toMatchObject({
        workspaceId: app.workspaceId,
        actorKind: 1,
        actorName: 'Olive Owner',
        userAccountId: app.ownerUserAccountId,
        tokenId: expect.any(String),
        address: '127.0.0.1',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        subjectName: name.startsWith('webhook') ? 'example.com' : 'another',
      });
      expect(Math.abs(Date.now() - entry.occurredUtc.getTime())).toBeLessThan(60_000);
    }
  });
});

describe('commands', () => {
  beforeAll(async () => {
    // The directory file changes the role of this member.
    await inProcess(app, 'directory apply', [
      file(
        'before.yaml',
        'members:\n  - { emailAddress: role@example.com, displayName: Rolf Role, role: guest }\n',
      ),
      '--workspace',
      'Test',
    ]);
  });

  it('that use a database are all in the table above', async () => {
    expect((await databaseCommands('', { ...commands })).toSorted()).toEqual(Object.keys(runs).toSorted());
  });

  it.each(Object.keys(runs))('%s enters its acts, or leaves every row as it is', async (name) => {
    const { acts: expected, words, exitCode = 0 } = runs[name] ?? { acts: [], words: () => [] };
    const args = await words();
    const before = expected.length === 0 ? await fingerprint() : '';
    let ran = { exitCode: -1, stdout: '', stderr: '' };
    const added = await entered(async () => {
      ran = await inProcess(app, name, args);
    });
    expect([ran.exitCode, ran.exitCode === exitCode ? '' : ran.stderr]).toEqual([exitCode, '']);
    expect(added.map(({ act }) => act).toSorted()).toEqual(expected.toSorted());
    for (const entry of added)
      expect(entry).toMatchObject({
        actorKind: 2,
        actorName: 'tester',
        address: 'here',
        userAccountId: null,
        requestId: null,
      });
    if (expected.length === 0) expect(await fingerprint()).toBe(before);
  });

  it('enter the old and the new role', async () => {
    const change = (await acts()).find(
      ({ act, subjectName }) => act === 'directory.updated' && subjectName.includes('ol'),
    );
    expect(change?.subjectKind).toBe('member');
    expect(change?.changes).toEqual([{ field: 'role', before: 'guest', after: 'admin' }]);
  });
});

it('the service enters as the system actor that it disabled a webhook', async () => {
  const receiver = await startReceiver();
  receiver.answer(() => ({ status: 410 }));
  const entries = await entered(async () => {
    const { webhook } = await webhookCalls(app).call('webhookCreate', { url: receiver.url });
    await inProcess(app, 'directory apply', [
      file('team.yaml', 'teams: [{ code: WHK, name: Webhooks }]\n'),
      '--workspace',
      'Test',
    ]);
    await eventually(async () => (await webhookCalls(app).read(webhook.id))?.state === 'DISABLED');
  });
  receiver.close();
  expect(entries.find(({ act }) => act === 'webhook.disabled')).toMatchObject({
    actorKind: 3,
    actorName: 'workgraph',
    userAccountId: null,
  });
});

it('every declared act has occurred in these tests', () => {
  expect([...seen].toSorted()).toEqual(Object.keys(auditActs).toSorted());
});

it('no entry contains the text or the hash of a token', async () => {
  const entries = JSON.stringify(await acts());
  expect(entries).not.toMatch(/wg_/);
  const hashes = await app.database.unscoped.selectFrom('accessToken').select('tokenHash').execute();
  for (const { tokenHash } of hashes) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      expect(entries).not.toContain(tokenHash.toString(encoding));
  }
});

async function databaseCommands(prefix: string, subCommands: SubCommandsDef): Promise<string[]> {
  const names = await Promise.all(
    Object.entries(subCommands).map(async ([word, command]) => {
      const found = (await (typeof command === 'function' ? command() : command)) as CommandDef;
      const name = `${prefix}${word}`;
      if (found.subCommands) return databaseCommands(`${name} `, found.subCommands as SubCommandsDef);
      return 'execute' in found ? [name] : [];
    }),
  );
  return names.flat();
}
