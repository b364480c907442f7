import { expect } from '@jest/globals';
import { sql } from 'kysely';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import type { Answer, App } from './app.ts';
import { ownWorkspaces } from './own-workspaces.ts';
import { installAgent, issueWorld, type IssueWorld } from './issue-world.ts';
import { eventually } from './eventually.ts';
import { callerOf } from './mutations.ts';
import { storeWebhook } from './stored-webhook.ts';

/** A server whose workspace has an installed agent, with helpers that send requests with an Idempotency-Key. */
export interface KeyedWorld {
  app: App;
  world: IssueWorld;
  /** Makes a new Idempotency-Key. */
  newKey(): string;
  /** Creates an issue with one object of each kind that belongs to an issue. */
  newObjects(): Promise<TestObjects>;
  /** Sends a write to REST with a key, by default as the owner. */
  rest(method: string, path: string, key: string, body?: unknown, token?: string): Promise<Answer<Body>>;
  /** Sends an operation to the graph with a key. */
  graph(query: string, variables: object, key: string, token?: string): Promise<Answer<Result>>;
  /** Returns a digest of the rows of each table, ignoring when tokens were last used. */
  tables(): Promise<Record<string, string>>;
}

export type Body = Record<string, unknown> & { id: string; key: string };
export interface Result {
  data?: Record<string, Record<string, never>> | null;
  errors?: { message: string; extensions: { code: string; errors?: { field: string }[] } }[];
}

/** The keys and ids of the objects that writes address. */
export interface TestObjects {
  key: string;
  deletedKey: string;
  comment: string;
  link: string;
  attachment: string;
  token: string;
  webhook: string;
  webhookDelivery: string;
}

export async function keyedWorld(app: App): Promise<KeyedWorld> {
  const world = await issueWorld(app);
  await installAgent(app, world, world.agent);
  const headers = (key: string) => ({ 'Idempotency-Key': key });
  const graph: KeyedWorld['graph'] = (query, variables, key, token = app.token) =>
    app.request<Result>('POST', '/graphql', { body: { query, variables }, headers: headers(key), token });
  return {
    app,
    world,
    newKey: newUuid,
    newObjects: () => newObjects(app, world),
    rest: (method, path, key, body, token = app.token) =>
      app.request<Body>(method, path, { body, headers: headers(key), token }),
    graph,
    tables: () => tables(app),
  };
}

async function newObjects(app: App, { eng }: IssueWorld): Promise<TestObjects> {
  const caller = callerOf(app, app.token);
  const { key } = await caller.create({ teamId: eng.id, title: 'Objects' });
  const { key: deletedKey } = await caller.create({ teamId: eng.id, title: 'Deleted' });
  await caller.mutate('issueDelete', { key: deletedKey });
  const { comment } = await caller.mutate('commentCreate', { issueKey: key, body: 'Said.' });
  const link = { issueKey: key, url: 'https://example.com/a', title: 'A' };
  const { issueLink } = await caller.mutate('issueLinkCreate', link);
  const created = await app.graphql<Record<string, Record<string, { id: string }>>>(
    `mutation ($file: AttachmentCreateInput!) {
      attachmentCreate(input: $file) { attachment { id } }
      accessTokenCreate(input: { name: "t", scopes: ["issues:read"] }) { accessToken { id } }
    }`,
    { file: { issueKey: key, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 1 } },
  );
  expect(created.body.errors).toBeUndefined();
  const { attachmentCreate, accessTokenCreate } = created.body.data ?? {};
  const { webhookId, deliveryId } = await storeWebhook(
    app.database.of(app.workspaceId),
    app.ownerUserAccountId,
  );
  return {
    key,
    deletedKey,
    comment: comment.id,
    link: issueLink.id,
    attachment: attachmentCreate?.attachment?.id ?? '',
    token: accessTokenCreate?.accessToken?.id ?? '',
    webhook: encodeId('webhook', webhookId),
    webhookDelivery: encodeId('whdelivery', deliveryId),
  };
}

async function tables({ database }: App): Promise<Record<string, string>> {
  const own = ownWorkspaces(database);
  const names = await sql<{ name: string }>`select table_name as name from information_schema.tables t
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'change%'
      and (${!own} or exists (
        select from information_schema.columns c
        where (c.table_schema, c.table_name) = (t.table_schema, t.table_name) and c.column_name = 'workspace_id'
      ))`.execute(database.unscoped);
  const restriction = own ? sql`where workspace_id = any(${own}::uuid[])` : sql``;
  // The janitors of other test files' servers may remove canceled uploads at any time, so these are not compared.
  const isCancelled = sql`uploaded_utc is null and deleted_utc is not null`;
  const restrictionOf = (name: string) =>
    own && name === 'attachment' ? sql`${restriction} and not (${isCancelled})` : restriction;
  // The sequencer may move changes from one table to the other at any moment, so both have one digest. On Citus a statement reads its
  // tables one after the other, so this waits until no change is left to be moved.
  if (own)
    await eventually(async () => {
      const waiting = await sql`select from change_inbox ${restriction} limit 1`.execute(database.unscoped);
      return waiting.rows.length === 0;
    });
  const changes = sql`select 'changes' as name, count(*) || ' ' || md5(coalesce(string_agg(id::text, ',' order by id), ''))
    as digest from (select change_id as id from change_inbox ${restriction} union all select id from change ${restriction}) rows`;
  const digests = names.rows.map(
    ({
      name,
    }) => sql`select ${sql.lit(name)} as name, count(*) || ' ' || md5(coalesce(string_agg(row, ',' order by row), ''))
      as digest from (select (to_jsonb(t) - 'last_used_utc')::text as row from ${sql.table(name)} t ${restrictionOf(name)}) rows`,
  );
  const { rows } = await sql<{
    name: string;
    digest: string;
  }>`${sql.join([...digests, changes], sql` union all `)}`.execute(database.unscoped);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}
