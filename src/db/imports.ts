import { sql, type SqlBool } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { TenantDb } from './tables/tenant-tables.ts';

export type ImportKind = 'issue' | 'comment' | 'member';

/** What earlier imports have stored about an object of a source. */
export interface StoredRecord {
  /** Its fingerprint. */
  readonly digest?: string;
  /** The numbers of rows of an issue that imports have written without an entry in its feed, by the kind of row. */
  readonly came?: Readonly<Record<string, number>>;
  /** The keys in the source of the attachments of an issue that imports have added. */
  readonly files?: readonly string[];
  /** Whether it is a comment that was imported as deleted. */
  readonly deleted?: boolean;
  /** Whether it is an issue that was deleted here and has been purged since. */
  readonly purged?: boolean;
}

/** An object of a source that was imported before: the row that it became, and its record. */
export interface ImportedBefore {
  sourceId: string;
  targetId: string;
  record: StoredRecord;
}

/** The rows that objects of a source became in earlier imports, by their ids in the source. */
export async function selectImported(
  trx: Trx,
  source: string,
  kind: ImportKind,
  sourceIds: readonly string[],
): Promise<Map<string, ImportedBefore>> {
  if (sourceIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom('importSource')
    .select(['sourceId', 'targetId', sql<StoredRecord>`record - 'fields' - 'relations'`.as('record')])
    .where('source', '=', source)
    .where('kind', '=', kind)
    .where(anyText('sourceId', sourceIds))
    .execute();
  return new Map(rows.map((row) => [row.sourceId, row]));
}

/** Teams by their codes. */
export async function selectTeamsByCode(db: TenantDb, codes: string[]): Promise<Row<'team'>[]> {
  return db.selectFrom('team').selectAll().where(anyText('code', codes)).execute();
}

/** The codes of all teams, in order. */
export async function selectTeamCodes(db: TenantDb): Promise<string[]> {
  const teams = await db.selectFrom('team').select('code').orderBy('code').execute();
  return teams.map(({ code }) => code);
}

/** The keys of projects, in order, at most a thousand. */
export async function selectProjectKeys(db: TenantDb): Promise<string[]> {
  const projects = await db.selectFrom('project').select('key').orderBy('key').limit(1000).execute();
  return projects.map(({ key }) => key);
}

/** The statuses of teams, in their order. */
export async function selectStatusesOf(trx: Trx, teamIds: string[]): Promise<Row<'status'>[]> {
  return trx
    .selectFrom('status')
    .selectAll()
    .where('teamId', '=', anyUuid(teamIds))
    .orderBy('position')
    .orderBy('id')
    .execute();
}

/** The labels of teams and of the workspace that have one of the folded names. */
export async function selectLabelsNamed(
  trx: Trx,
  teamIds: string[],
  nameFolds: string[],
): Promise<Row<'label'>[]> {
  if (nameFolds.length === 0) return [];
  return trx
    .selectFrom('label')
    .selectAll()
    .where((eb) => eb.or([eb('teamId', '=', anyUuid(teamIds)), eb('teamId', 'is', null)]))
    .where(anyText('nameFold', nameFolds))
    .execute();
}

/** Members by account or by folded address or name, ordered by creation time. */
export async function selectMembersNamed(
  trx: Trx,
  by: { userAccountIds: string[]; emailFolds: string[]; nameFolds: string[] },
): Promise<Row<'member'>[]> {
  return trx
    .selectFrom('member')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('userAccountId', '=', anyUuid(by.userAccountIds)),
        anyText('emailAddressFold', by.emailFolds),
        anyText('displayNameFold', by.nameFolds),
      ]),
    )
    .orderBy('createdUtc')
    .orderBy('id')
    .execute();
}

export async function selectProjectsByKey(
  trx: Trx,
  keys: string[],
): Promise<Pick<Row<'project'>, 'id' | 'key'>[]> {
  if (keys.length === 0) return [];
  return trx.selectFrom('project').select(['id', 'key']).where(anyText('key', keys)).execute();
}

/** The deliveries of teams that have one of the numbers. */
export async function selectDeliveriesNumbered(
  trx: Trx,
  teamIds: string[],
  numbers: number[],
): Promise<Pick<Row<'delivery'>, 'id' | 'teamId' | 'number'>[]> {
  if (numbers.length === 0) return [];
  return trx
    .selectFrom('delivery')
    .select(['id', 'teamId', 'number'])
    .where('teamId', '=', anyUuid(teamIds))
    .where(sql<SqlBool>`number = any(${numbers}::int[])`)
    .execute();
}

/** Which of the issues exist and are not deleted. */
export async function selectIssuesNotDeleted(trx: Trx, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await trx
    .selectFrom('issue')
    .select('id')
    .where('id', '=', anyUuid(ids))
    .where('deletedUtc', 'is', null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The issues and all their ancestors, each with its parent. */
export async function selectAncestry(trx: Trx, ids: readonly string[]): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await trx
    .withRecursive('ancestry', (db) =>
      db
        .selectFrom('issue')
        .select(['id', 'parentIssueId'])
        .where('id', '=', anyUuid(ids))
        .union((eb) =>
          eb
            .selectFrom('issue')
            .innerJoin('ancestry', 'ancestry.parentIssueId', 'issue.id')
            .select(['issue.id', 'issue.parentIssueId']),
        ),
    )
    .selectFrom('ancestry')
    .select(['id', 'parentIssueId'])
    .execute();
  return new Map(rows.map((row) => [row.id, row.parentIssueId]));
}

function anyText(column: string, texts: readonly string[]) {
  return sql<SqlBool>`${sql.ref(column)} = any(${[...texts]}::text[])`;
}

/** The entries of the feeds of issues, in their order. */
export async function selectFeeds(
  trx: Trx,
  issueIds: readonly string[],
): Promise<Pick<Row<'activity'>, 'issueId' | 'eventType' | 'occurredUtc' | 'text'>[]> {
  if (issueIds.length === 0) return [];
  return trx
    .selectFrom('activity')
    .select(['issueId', 'eventType', 'occurredUtc', 'text'])
    .where('issueId', '=', anyUuid(issueIds))
    .orderBy('issueId')
    .orderBy('sortOrder')
    .execute();
}

/** The attachments of issues. Deleted ones are included, as long as their rows exist. */
export async function selectAttachmentsOf(
  trx: Trx,
  issueIds: readonly string[],
): Promise<Pick<Row<'attachment'>, 'issueId' | 'fileName' | 'createdUtc'>[]> {
  if (issueIds.length === 0) return [];
  return trx
    .selectFrom('attachment')
    .select(['issueId', 'fileName', 'createdUtc'])
    .where('issueId', '=', anyUuid(issueIds))
    .execute();
}

/** The hashes of the URLs of the links of issues, including deleted links. */
export async function selectLinkHashes(
  trx: Trx,
  issueIds: readonly string[],
): Promise<Pick<Row<'issueLink'>, 'issueId' | 'urlHash'>[]> {
  if (issueIds.length === 0) return [];
  return trx
    .selectFrom('issueLink')
    .select(['issueId', 'urlHash'])
    .where('issueId', '=', anyUuid(issueIds))
    .execute();
}

/** The given issues that have an agent thread. */
export async function selectIssuesWithThread(trx: Trx, issueIds: readonly string[]): Promise<Set<string>> {
  if (issueIds.length === 0) return new Set();
  const rows = await trx
    .selectFrom('agentThread')
    .select('issueId')
    .where('issueId', '=', anyUuid(issueIds))
    .execute();
  return new Set(rows.map(({ issueId }) => issueId));
}

/** The installed agents, the default one first. */
export async function selectInstallations(trx: Trx): Promise<Row<'agentInstallation'>[]> {
  return trx
    .selectFrom('agentInstallation')
    .selectAll()
    .orderBy('isDefault', 'desc')
    .orderBy('createdUtc')
    .orderBy('id')
    .execute();
}
