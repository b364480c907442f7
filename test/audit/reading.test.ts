import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { memberRole } from '../../src/model/codes.ts';
import { hashToken } from '../../src/resolvers/access/access-tokens.ts';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import { allowFallback } from '../support/deliberate-fallbacks.ts';
import { sampledExecutors } from '../support/samples.ts';
import { inProcess } from '../cli/workgraph.ts';

interface Entry {
  id: string;
  act: string;
  actorKind: string;
  actorName: string;
  actor: { displayName: string } | null;
  accessTokenId: string | null;
  requestId: string | null;
  subjectName: string;
  changes: { field: string; before: string | null; after: string | null }[];
}
interface Entries {
  auditEntries: {
    totalCount: number;
    nodes: Entry[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  };
}

const query = `query Audit($first: Int, $after: String, $filter: AuditEntryFilter, $orderBy: AuditEntryOrder) {
  auditEntries(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes { id act actorKind actorName actor { displayName } accessTokenId requestId subjectName changes { field before after } }
  }
}`;

describe.each(sampledExecutors('audit/reading'))('on the %s executor', (EXECUTOR) => {
  let app: App;
  let second: TestWorkspace;
  beforeAll(async () => {
    app = await startApp({ sharesDatabase: true, settings: { EXECUTOR } });
    second = await app.secondWorkspace();
    for (const name of ['first', 'second', 'third']) await mint(name);
  });
  afterAll(() => app.stop());

  const mint = (name: string, token = app.token) =>
    app.graphql<{ accessTokenCreate: { accessToken: { id: string } } }>(
      'mutation ($input: AccessTokenCreateInput!) { accessTokenCreate(input: $input) { accessToken { id } } }',
      { input: { name, scopes: ['teams:read'] } },
      { token },
    );
  const read = (variables: Record<string, unknown> = {}, token = app.token) =>
    app.graphql<Entries>(query, variables, { token });

  it('the audit log lists the newest entries first, with their actor and request', async () => {
    const created = await mint('fourth');
    const { body } = await read({ first: 1 });
    expect(body.errors).toBeUndefined();
    expect(body.data?.auditEntries.nodes).toMatchObject([
      {
        act: 'access-token.created',
        actorKind: 'MEMBER',
        actorName: 'Olive Owner',
        actor: { displayName: 'Olive Owner' },
        accessTokenId: expect.stringMatching(/^token_/),
        requestId: created.headers.get('x-request-id'),
        subjectName: 'fourth',
      },
    ]);
    const [entry] = body.data?.auditEntries.nodes ?? [];
    expect(entry?.changes).toContainEqual({ field: 'scopes', before: null, after: '["teams:read"]' });
  });

  it('paging returns each entry once, in both directions', async () => {
    for (const direction of ['ASC', 'DESC']) {
      const ids: string[] = [];
      let after = '';
      for (let more = true; more; ) {
        const { body } = await read({ first: 2, after, orderBy: { field: 'OCCURRED', direction } });
        const page = body.data?.auditEntries;
        ids.push(...(page?.nodes ?? []).map(({ id }) => id));
        more = page?.pageInfo.hasNextPage ?? false;
        after = page?.pageInfo.endCursor ?? '';
        expect(page?.totalCount).toBe((await read({ first: 250 })).body.data?.auditEntries.nodes.length);
      }
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThanOrEqual(5);
    }
  });

  it('filters select entries', async () => {
    const count = async (filter: Record<string, unknown>) =>
      (await read({ filter })).body.data?.auditEntries.totalCount;
    const all = await count({});
    expect(await count({ act: { eq: 'workspace.created' } })).toBe(1);
    expect(await count({ actorKind: { in: ['MEMBER', 'SYSTEM', 'OPERATOR'] } })).toBe(all);
    expect(await count({ occurredUtc: { gt: new Date(Date.now() + 60_000).toISOString() } })).toBe(0);
    const { body } = await read({ first: 1 });
    const id = body.data?.auditEntries.nodes[0]?.accessTokenId;
    expect(await count({ accessTokenId: { eq: id } })).toBeGreaterThanOrEqual(3);
  });

  it('only owners and admins whose token has workspace:admin may read the log', async () => {
    const [entry] = (await read({ first: 1 })).body.data?.auditEntries.nodes ?? [];
    const node = async (token: string) =>
      (await app.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: entry?.id }, { token })).body;
    for (const role of Object.keys(memberRole) as (keyof typeof memberRole)[]) {
      const isAdmin = role === 'owner' || role === 'admin';
      const token = await app.tokenFor({ role });
      const { body } = await read({ first: 1 }, token);
      expect([role, body.errors?.[0]?.message]).toEqual([
        role,
        isAdmin ? undefined : 'Only owners and admins may read the audit log.',
      ]);
      const { data, errors } = await node(token);
      expect([role, data, errors?.[0]?.message]).toEqual(
        isAdmin
          ? [role, { node: { id: entry?.id } }, undefined]
          : [role, undefined, 'Only owners and admins may read the audit log.'],
      );
    }
    const narrow = await app.tokenFor({
      scopes: ['issues:read', 'issues:write', 'teams:read', 'projects:read', 'members:read'],
    });
    const refused = await read({}, narrow);
    expect(refused.body.errors?.[0]?.message).toContain('Query.auditEntries needs workspace:admin');
    expect(await node(narrow)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  });

  it('the log contains no entries of another workspace', async () => {
    await mint('theirs', second.token);
    const { body } = await read({ first: 250 }, second.token);
    const theirs = body.data?.auditEntries.nodes ?? [];
    expect(theirs.map(({ subjectName }) => subjectName)).toContain('theirs');
    const own = (await read({ first: 250 })).body.data?.auditEntries.nodes ?? [];
    expect(own.filter(({ id }) => theirs.some((their) => their.id === id))).toEqual([]);
    const node = await app.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: theirs[0]?.id });
    expect(node.body).toEqual({ data: { node: null } });
  });
});

describe('the audit log', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it.each([
    `update audit_entry set act = 'nothing'`,
    `delete from audit_entry`,
    `delete from audit_entry where false`,
    `truncate audit_entry`,
  ])('refuses: %s', async (statement) => {
    const before = await sql<{ n: string }>`select count(*) as n from audit_entry`.execute(
      app.database.unscoped.withoutPlugins(),
    );
    await expect(sql.raw(statement).execute(app.database.unscoped.withoutPlugins())).rejects.toThrow(
      'Entries of the audit are neither changed nor removed.',
    );
    const after = await sql<{ n: string }>`select count(*) as n from audit_entry`.execute(
      app.database.unscoped.withoutPlugins(),
    );
    expect(after.rows).toEqual(before.rows);
  });

  it('gets an entry in the transaction of the act', async () => {
    allowFallback('no_tokens');
    const unscoped = app.database.unscoped.withoutPlugins();
    await sql`alter table audit_entry add constraint no_tokens check (act not like 'access-token.%') not valid`.execute(
      unscoped,
    );
    const tokens = () =>
      app.database.unscoped.selectFrom('accessToken').select(['id', 'revokedUtc']).orderBy('id').execute();
    const before = await tokens();
    const created = await app.graphql(
      'mutation { accessTokenCreate(input: { name: "lost", scopes: ["teams:read"] }) { accessToken { id } } }',
    );
    expect(created.body.errors?.[0]?.extensions?.code).toBe('INTERNAL_ERROR');
    const command = await inProcess(app, 'token create', ['--name', 'lost']);
    expect(command.exitCode).toBe(1);
    expect(await tokens()).toEqual(before);
    await sql`alter table audit_entry drop constraint no_tokens`.execute(unscoped);
  });

  it('names each token that was revoked together with its parent', async () => {
    const make = async (name: string, token: string) =>
      (
        await app.graphql<{ accessTokenCreate: { token: string; accessToken: { id: string } } }>(
          'mutation ($name: String!) { accessTokenCreate(input: { name: $name, scopes: ["teams:read"] }) { token accessToken { id } } }',
          { name },
          { token },
        )
      ).body.data?.accessTokenCreate;
    const parent = await make('parent', app.token);
    await make('child', parent?.token ?? '');
    const { stdout } = await inProcess(app, 'token revoke', [parent?.accessToken.id ?? '', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ id: parent?.accessToken.id });
    const shown = await inProcess(app, 'audit', ['--act', 'access-token.revoked', '--json']);
    const entries = JSON.parse(shown.stdout) as Entry[];
    expect(entries.map(({ subjectName }) => subjectName).toSorted()).toEqual(['child', 'parent']);
    const child = entries.find(({ subjectName }) => subjectName === 'child');
    expect(child?.changes).toContainEqual({
      field: 'revokedWith',
      before: null,
      after: parent?.accessToken.id,
    });
  });

  it('is printed in lines with actor, origin and act, filtered by --since, --actor, --act and --limit', async () => {
    const { stdout } = await inProcess(app, 'audit', ['--act', 'access-token.created', '--limit', '1']);
    expect(stdout).toMatch(
      /^WHEN +WHO +FROM +ACT +SUBJECT +CHANGES\n\d{4}-\S+Z +Olive Owner \(member\) +127\.0\.0\.1 +access-token\.created +access token child/,
    );
    const count = async (...words: string[]) =>
      (JSON.parse((await inProcess(app, 'audit', [...words, '--json'])).stdout) as unknown[]).length;
    const all = await count();
    expect(await count('--since', '1d')).toBe(all);
    expect(await count('--since', '2999-01-01T00:00:00Z')).toBe(0);
    const owner = await app.database.unscoped
      .selectFrom('member as m')
      .select('m.id')
      .where('m.workspaceId', '=', app.workspaceId)
      .executeTakeFirstOrThrow();
    expect(owner.id).toBeDefined();
    expect(
      (await count('--actor', 'tester')) +
        (await count('--actor', 'workgraph')) +
        (await count('--actor', 'Olive Owner')),
    ).toBe(all);
    for (const words of [
      ['--since', 'yesterday'],
      ['--act', 'nothing'],
      ['--limit', '0'],
    ])
      expect((await inProcess(app, 'audit', words)).exitCode).toBe(2);
  });

  it('has no entries for invalid tokens, with which an attacker could fill it', async () => {
    const before = await app.database.unscoped.selectFrom('auditEntry').select('id').execute();
    for (const token of ['wg_none', `wg_${'0'.repeat(48)}`])
      expect((await app.graphql('{ viewer { scopes } }', {}, { token })).status).toBe(401);
    expect(hashToken('wg_none')).toBeInstanceOf(Buffer);
    expect(await app.database.unscoped.selectFrom('auditEntry').select('id').execute()).toHaveLength(
      before.length,
    );
  });
});
