import fc from 'fast-check';
import { type AnyRow, untyped } from '../../src/db/query/any-tables.ts';
import { limits } from '../../src/model/limits.ts';
import { encodeId, type IdPrefix, idPrefixes } from '../../src/resolvers/ids.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import type { App } from '../support/app.ts';
import { storeWebhook } from '../support/stored-webhook.ts';

/** What the names of real things are kept under: ids by their prefix, and what else a client calls things by. */
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

/** Names of things that are there. Those that are spare may be deleted. */
export type Pool = Readonly<Record<PoolName, readonly string[]>>;

const reference = /^@(\w+)\/(\d+)$/;

/**
 * The name of a real thing by its place in the pool: cases are made before there is a server, and those that are kept
 * hold for any. `resolved` puts the name itself in its place.
 */
export function pooled(...names: readonly PoolName[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...names), fc.nat({ max: 999 }))
    .map(([name, place]) => `@${name}/${place}`);
}

/** A value with the names of real things where it referred to them. */
export function resolved<T>(value: T, pool: Pool): T {
  if (typeof value === 'string') return nameAt(value, pool) as T;
  if (Array.isArray(value)) return value.map((each: unknown) => resolved(each, pool)) as T;
  if (typeof value !== 'object' || value === null) return value;
  // `__proto__` must stay a member like any other.
  const entries = Object.entries(value).map(([key, each]) => [key, resolved<unknown>(each, pool)] as const);
  return Object.fromEntries(entries) as T;
}

function nameAt(text: string, pool: Pool): string {
  const [, name, place] = reference.exec(text) ?? [];
  if (name === undefined) return text;
  const names = pool[name as PoolName];
  return names[Number(place) % names.length] ?? text;
}

/**
 * The names of things in the demo workspace: a few issues with all that belongs to them, the directories, and things
 * made to be deleted.
 */
export async function readPool(app: App): Promise<Pool> {
  const rowsOf = (table: string): Promise<AnyRow[]> =>
    untyped(app.database.of(app.workspaceId)).selectFrom(table).selectAll().orderBy('id').execute();
  const db = app.database.of(app.workspaceId);
  const hooks: { webhookId: string; deliveryId: string }[] = [];
  // Those of an earlier run would leave no room for new ones.
  await db.deleteFrom('webhookDelivery').execute();
  await db.deleteFrom('webhook').execute();
  for (let place = 0; place < limits.webhooks * 0.75; place += 1)
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
  // Those that go together come first: what is of the first issue, or of its team.
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
    // Every prefix is there.
    ...(Object.fromEntries(byPrefix) as Record<IdPrefix, readonly string[]>),
    issueKey: homeKeys,
    teamCode: [...teams.values()],
    projectKey: (await rowsOf('project')).map(({ key }) => String(key)),
    spareKey: issues.flatMap((issue) => (isHome(issue) ? [] : [issue.key])),
    spareAttachment: attachments.flatMap((row) =>
      isHome(row) ? [] : [encodeId('attachment', String(row.id))],
    ),
    // Two, so that a webhook and a delivery often go together.
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
  const places = Array.from({ length: 50 }, (_, place) => place);
  const parts = places.map(
    (place) => `
      comment${place}: commentCreate(input: { issueKey: $issueKey, body: "spare" }) { comment { id } }
      link${place}: issueLinkCreate(input: { issueKey: $issueKey, title: "spare", url: "https://${place}.example.com" }) { issueLink { id } }
      token${place}: accessTokenCreate(input: { name: "spare", scopes: ["issues:read"] }) { accessToken { id } }`,
  );
  const { body } = await app.graphql<Record<string, Record<string, { id: string }>>>(
    `mutation ($issueKey: String!) { ${parts.join('')} }`,
    { issueKey },
  );
  if (!body.data) throw new Error(JSON.stringify(body.errors));
  const made = Object.entries(body.data);
  const ids = (kind: string) =>
    made.flatMap(([alias, payload]) =>
      alias.startsWith(kind) ? Object.values(payload).map(({ id }) => id) : [],
    );
  return { spareToken: ids('token'), spareComment: ids('comment'), spareLink: ids('link') };
}
