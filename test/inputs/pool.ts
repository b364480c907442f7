import fc from 'fast-check';
import { type AnyRow, untyped } from '../../src/db/query/any-tables.ts';
import { limits } from '../../src/model/limits.ts';
import { issueToken } from '../../src/resolvers/access/access-tokens.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { encodeId, type IdPrefix, idPrefixes } from '../../src/resolvers/ids.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import type { App } from '../support/app.ts';
import { member } from '../support/fixtures.ts';
import { storeWebhook } from '../support/stored-webhook.ts';

/** The lists of a pool: ids by their prefix, and other names that clients use. */
export type PoolName =
  | IdPrefix
  | 'issueKey'
  | 'teamCode'
  | 'projectKey'
  | 'spareKey'
  | 'spareToken'
  | 'spareComment'
  | 'spareLink'
  | 'spareAttachment'
  | 'spareWebhook';

/** Names of existing objects. The spare ones may be deleted. */
export type Pool = Readonly<Record<PoolName, readonly string[]>>;

const reference = /^@(\w+)\/(\d+)$/;

/**
 * A reference to a name by its index in the pool. Cases are generated before a server exists, and stored cases
 * apply to any server. `resolved` replaces the reference by the name.
 */
export function pooled(...names: readonly PoolName[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...names), fc.nat({ max: 999 }))
    .map(([name, index]) => `@${name}/${index}`);
}

/** Replaces the references in a value by the names of existing objects. */
export function resolved<T>(value: T, pool: Pool): T {
  if (typeof value === 'string') return nameAt(value, pool) as T;
  if (Array.isArray(value)) return value.map((each: unknown) => resolved(each, pool)) as T;
  if (typeof value !== 'object' || value === null) return value;
  // `__proto__` must remain an ordinary property.
  const entries = Object.entries(value).map(([key, each]) => [key, resolved<unknown>(each, pool)] as const);
  return Object.fromEntries(entries) as T;
}

function nameAt(text: string, pool: Pool): string {
  const [, name, index] = reference.exec(text) ?? [];
  // A generated text may look like a reference, such as `@0/0`.
  if (name === undefined || !Object.hasOwn(pool, name)) return text;
  const names = pool[name as PoolName];
  return names[Number(index) % names.length] ?? text;
}

/**
 * Reads names of objects in the demo workspace: a few issues with everything that belongs to them, the directories, and
 * objects that are created to be deleted.
 */
export async function readPool(app: App): Promise<Pool> {
  const rowsOf = (table: string): Promise<AnyRow[]> =>
    untyped(app.database.of(app.workspaceId)).selectFrom(table).selectAll().orderBy('id').execute();
  const db = app.database.of(app.workspaceId);
  const hooks: { webhookId: string; deliveryId: string }[] = [];
  // Webhooks of an earlier run would use up the limit.
  await db.deleteFrom('webhookDelivery').execute();
  await db.deleteFrom('webhook').execute();
  for (let index = 0; index < limits.webhooks * 0.75; index += 1)
    hooks.push(await storeWebhook(db, app.ownerUserAccountId));
  const teams = new Map((await rowsOf('team')).map(({ id, code }) => [id, String(code)]));
  const issues = (await rowsOf('issue')).map(({ id, teamId, number }) => ({
    id,
    teamId,
    key: `${teams.get(teamId)}-${String(number)}`,
  }));
  const attachments = await rowsOf('attachment');
  const having = (rows: readonly AnyRow[]) => {
    const ids = new Set(rows.map(({ issueId }) => issueId));
    return issues.filter(({ id }) => ids.has(id)).slice(0, 2);
  };
  const home = [...having(attachments), ...having(await rowsOf('agentThread'))];
  const [first] = home;
  // Related objects come first: those of the first issue, then those of its team.
  const distance = ({ id, issueId, teamId }: AnyRow) =>
    Number((issueId ?? id) !== first?.id) + Number(teamId !== first?.teamId && id !== first?.teamId);
  const isHome = ({ id, issueId }: AnyRow) => home.some((issue) => issue.id === (issueId ?? id));
  const ids = async (prefix: IdPrefix): Promise<readonly string[]> => {
    const table = prefix === 'user' ? 'userAccount' : entitiesByPrefix.get(prefix)?.options.table;
    const rows = table ? await rowsOf(table) : [];
    const near = rows.filter(isHome);
    return (near.length > 0 ? near : rows)
      .toSorted((one, other) => distance(one) - distance(other))
      .slice(0, 10)
      .map(({ id }) => encodeId(prefix, String(id)));
  };
  const byPrefix: [IdPrefix, readonly string[]][] = [];
  for (const prefix of idPrefixes) byPrefix.push([prefix, await ids(prefix)]);
  const homeKeys = home.map(({ key }) => key);
  return {
    // The entries contain every prefix.
    ...(Object.fromEntries(byPrefix) as Record<IdPrefix, readonly string[]>),
    issueKey: homeKeys,
    teamCode: [...teams.values()],
    projectKey: (await rowsOf('project')).map(({ key }) => String(key)),
    spareKey: issues.flatMap((issue) => (isHome(issue) ? [] : [issue.key])),
    spareAttachment: attachments.flatMap((row) =>
      isHome(row) ? [] : [encodeId('attachment', String(row.id))],
    ),
    // Only two, so that a webhook and a delivery often match.
    webhook: hooks.slice(0, 2).map(({ webhookId }) => encodeId('webhook', webhookId)),
    whdelivery: hooks.slice(0, 2).map(({ deliveryId }) => encodeId('whdelivery', deliveryId)),
    spareWebhook: hooks.slice(2).map(({ webhookId }) => encodeId('webhook', webhookId)),
    ...(await makeSpares(app, homeKeys[0] ?? '')),
  };
}

async function makeSpares(
  app: App,
  issueKey: string,
): Promise<Pick<Pool, 'spareToken' | 'spareComment' | 'spareLink'>> {
  const indexes = Array.from({ length: 50 }, (_, index) => index);
  const fields = indexes.map(
    (index) => `
      comment${index}: commentCreate(input: { issueKey: $issueKey, body: "spare" }) { comment { id } }
      link${index}: issueLinkCreate(input: { issueKey: $issueKey, title: "spare", url: "https://${index}.example.com" }) { issueLink { id } }`,
  );
  const { body } = await app.graphql<Record<string, Record<string, { id: string }>>>(
    `mutation ($issueKey: String!) { ${fields.join('')} }`,
    { issueKey },
  );
  if (!body.data) throw new Error(JSON.stringify(body.errors));
  const created = Object.entries(body.data);
  const ids = (kind: string) =>
    created.flatMap(([alias, payload]) =>
      alias.startsWith(kind) ? Object.values(payload).map(({ id }) => id) : [],
    );
  return {
    spareToken: await makeTokens(app, indexes.length),
    spareComment: ids('comment'),
    spareLink: ids('link'),
  };
}

/** They belong to another member, so that the API still creates tokens for the owner. */
async function makeTokens({ database, ...app }: App, count: number): Promise<string[]> {
  const db = database.of(app.workspaceId);
  const { userAccountId } = await member(database, app.workspaceId);
  const spare = { parentTokenId: null, name: 'spare', scopes: ['issues:read'] as const };
  const tokens = Array.from({ length: count }, () =>
    issueToken(db, systemActor, { ...spare, userAccountId }),
  );
  return (await Promise.all(tokens)).map(({ accessToken }) => encodeId('token', accessToken.id));
}
