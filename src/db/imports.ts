import { type Kysely, sql, type SqlBool } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import type { Row, Tables } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';

export type ImportKind = 'issue' | 'comment' | 'member';

/** A thing that came from a source before, and the fingerprint of what came. */
export interface ImportedBefore {
  sourceId: string;
  targetId: string;
  digest: string | null;
}

/** What earlier runs made of these ids of a source. */
export async function selectImported(
  trx: Trx,
  workspaceId: string,
  source: string,
  kind: ImportKind,
  sourceIds: readonly string[],
): Promise<Map<string, ImportedBefore>> {
  if (sourceIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom('importSource')
    .select(['sourceId', 'targetId', sql<string | null>`record ->> 'digest'`.as('digest')])
    .where('workspaceId', '=', workspaceId)
    .where('source', '=', source)
    .where('kind', '=', kind)
    .where(anyText('sourceId', sourceIds))
    .execute();
  return new Map(rows.map((row) => [row.sourceId, row]));
}

/** Teams by their codes. */
export async function selectTeamsByCode(
  db: Kysely<Tables>,
  workspaceId: string,
  codes: string[],
): Promise<Row<'team'>[]> {
  return db
    .selectFrom('team')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where(anyText('code', codes))
    .execute();
}

/** The statuses of teams, in their order. */
export async function selectStatusesOf(
  trx: Trx,
  workspaceId: string,
  teamIds: string[],
): Promise<Row<'status'>[]> {
  return trx
    .selectFrom('status')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where('teamId', '=', anyUuid(teamIds))
    .orderBy('position')
    .orderBy('id')
    .execute();
}

/** The labels of teams and of the workspace that have one of the folded names. */
export async function selectLabelsNamed(
  trx: Trx,
  workspaceId: string,
  teamIds: string[],
  nameFolds: string[],
): Promise<Row<'label'>[]> {
  if (nameFolds.length === 0) return [];
  return trx
    .selectFrom('label')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
    .where((eb) => eb.or([eb('teamId', '=', anyUuid(teamIds)), eb('teamId', 'is', null)]))
    .where(anyText('nameFold', nameFolds))
    .execute();
}

/** Members by account or by a folded address or name, in the order in which they came. */
export async function selectMembersNamed(
  trx: Trx,
  workspaceId: string,
  by: { userAccountIds: string[]; emailFolds: string[]; nameFolds: string[] },
): Promise<Row<'member'>[]> {
  return trx
    .selectFrom('member')
    .selectAll()
    .where('workspaceId', '=', workspaceId)
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
  workspaceId: string,
  keys: string[],
): Promise<Pick<Row<'project'>, 'id' | 'key'>[]> {
  if (keys.length === 0) return [];
  return trx
    .selectFrom('project')
    .select(['id', 'key'])
    .where('workspaceId', '=', workspaceId)
    .where(anyText('key', keys))
    .execute();
}

/** The deliveries of teams that have one of the numbers. */
export async function selectDeliveriesNumbered(
  trx: Trx,
  workspaceId: string,
  teamIds: string[],
  numbers: number[],
): Promise<Pick<Row<'delivery'>, 'id' | 'teamId' | 'number'>[]> {
  if (numbers.length === 0) return [];
  return trx
    .selectFrom('delivery')
    .select(['id', 'teamId', 'number'])
    .where('workspaceId', '=', workspaceId)
    .where('teamId', '=', anyUuid(teamIds))
    .where(sql<SqlBool>`number = any(${numbers}::int[])`)
    .execute();
}

/** These issues and all above them, each with its parent. */
export async function selectAncestry(
  trx: Trx,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await trx
    .withRecursive('line', (db) =>
      db
        .selectFrom('issue')
        .select(['workspaceId', 'id', 'parentIssueId'])
        .where('workspaceId', '=', workspaceId)
        .where('id', '=', anyUuid(ids))
        .union((eb) =>
          eb
            .selectFrom('issue')
            .innerJoin('line', (join) =>
              join
                .onRef('line.workspaceId', '=', 'issue.workspaceId')
                .onRef('line.parentIssueId', '=', 'issue.id'),
            )
            .select(['issue.workspaceId', 'issue.id', 'issue.parentIssueId']),
        ),
    )
    .selectFrom('line')
    .select(['id', 'parentIssueId'])
    .execute();
  return new Map(rows.map((row) => [row.id, row.parentIssueId]));
}

function anyText(column: string, texts: readonly string[]) {
  return sql<SqlBool>`${sql.ref(column)} = any(${[...texts]}::text[])`;
}
