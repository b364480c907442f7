import { type QueryCreator, type RawBuilder, sql, type UpdateObject } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import { PreparedSelect, type Sending, StatementsByShape } from './query/prepared.ts';
import { slot } from './query/slots.ts';
import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { NewRow, TenantDb, TenantTables } from './tables/tenant-tables.ts';

export type IssueRow = Row<'issue'>;

/** How a client names an issue: by its key, taken apart, or by its id. */
export type IssueName = { teamCode: string; number: number } | { id: string };

/** Just enough of an issue to find and lock it. */
export interface NamedIssue {
  id: string;
  teamId: string;
  teamCode: string;
  number: number;
  parentIssueId: string | null;
}

/** The issues behind names, in no order; what is deleted counts only when it is asked for. */
export async function selectIssuesNamed(
  db: TenantDb,
  names: readonly IssueName[],
  { deleted = false } = {},
): Promise<NamedIssue[]> {
  const keys = names.filter((name) => 'number' in name);
  const ids = names.flatMap((name) => ('id' in name ? [name.id] : []));
  const byKey = issuesByKey(db, keys).$if(!deleted, (query) => query.where('issue.deletedUtc', 'is', null));
  const byId = issuesById(db, ids).$if(!deleted, (query) => query.where('issue.deletedUtc', 'is', null));
  if (ids.length === 0) return byKey.execute();
  return keys.length === 0 ? byId.execute() : byKey.union(byId).execute();
}

const namedColumns = [
  'issue.id',
  'issue.teamId',
  'team.code as teamCode',
  'issue.number',
  'issue.parentIssueId',
] as const;

/** The issue behind one name. */
export async function selectIssueNamed(
  sending: Sending,
  name: IssueName,
  { deleted = false } = {},
): Promise<NamedIssue | undefined> {
  const named = 'id' in name ? 'id' : 'key';
  const [issue] = await namedIssues.send(sending, { named, deleted }, { ...name });
  return issue;
}

const namedIssues = new StatementsByShape<{ named: 'key' | 'id'; deleted: boolean }, NamedIssue>(
  (db, { named, deleted }) => {
    const rows = db
      .selectFrom('issue')
      .innerJoin('team', 'team.id', 'issue.teamId')
      .select(namedColumns)
      .$if(!deleted, (query) => query.where('issue.deletedUtc', 'is', null));
    const found =
      named === 'id'
        ? rows.where('issue.id', '=', slot('id'))
        : rows.where('team.code', '=', slot('teamCode')).where('issue.number', '=', slot<number>('number'));
    return new PreparedSelect<NamedIssue>(found, ['id', 'teamId', 'teamCode', 'number', 'parentIssueId']);
  },
);

function issuesByKey(db: TenantDb, keys: readonly { teamCode: string; number: number }[]) {
  const codes = keys.map(({ teamCode }) => teamCode);
  const numbers = keys.map(({ number }) => number);
  const named = sql<{ code: string; number: number }>`unnest(${codes}::text[], ${numbers}::int[])`;
  return db
    .selectFrom(named.as<'named'>(sql`named(code, number)`))
    .innerJoin('team', 'team.code', 'named.code')
    .innerJoin('issue', (join) =>
      join.onRef('issue.teamId', '=', 'team.id').onRef('issue.number', '=', 'named.number'),
    )
    .select(namedColumns);
}

function issuesById(db: TenantDb, ids: readonly string[]) {
  return db
    .selectFrom('issue')
    .innerJoin('team', 'team.id', 'issue.teamId')
    .select(namedColumns)
    .where('issue.id', '=', anyUuid(ids));
}

/** Rows that nobody else changes before the transaction ends, and a time that is not before anything in their feeds. */
export interface LockedIssues {
  issues: Map<string, IssueRow>;
  /** The database's clock, since those of servers differ; or the newest entry of their feeds, if that is later. */
  nowUtc: Date;
}

/** Locks issues in the order of their ids, deleted ones too: whoever locks several cannot lock another out. */
export async function lockIssues(trx: Trx, ids: Iterable<string>): Promise<LockedIssues> {
  const rows = await trx
    .selectFrom('issue')
    .selectAll()
    .select(sql<Date>`clock_timestamp()`.as('lockedUtc'))
    .where('id', '=', anyUuid(ids))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const issues = new Map(rows.map(({ lockedUtc: _, ...row }) => [row.id, row]));
  const times = rows.flatMap(({ lockedUtc, lastActivityUtc }) => [lockedUtc, lastActivityUtc ?? lockedUtc]);
  return { issues, nowUtc: new Date(Math.max(...times.map(Number))) };
}

/**
 * Takes the next numbers of a team and answers with the first of them; the team's other creations wait until this one is
 * committed or undone.
 */
export async function takeIssueNumbers(
  trx: Trx,
  teamId: string,
  count: number,
): Promise<{ number: number; nowUtc: Date }> {
  return nextNumber(trx, teamId, sql.lit(count))
    .returning((eb) => [
      eb('nextIssueNumber', '-', count).as('number'),
      sql<Date>`clock_timestamp()`.as('nowUtc'),
    ])
    .executeTakeFirstOrThrow();
}

/** Takes as many numbers as `count` says. */
export function nextNumber(
  db: QueryCreator<TenantTables>,
  teamId: string | RawBuilder<string>,
  count: RawBuilder<number>,
) {
  return db
    .insertInto('teamCounter')
    .values({ teamId, nextIssueNumber: sql<number>`1 + ${count}` })
    .onConflict((conflict) =>
      conflict
        .columns(['teamId'])
        .doUpdateSet((eb) => ({ nextIssueNumber: eb('teamCounter.nextIssueNumber', '+', count) })),
    );
}

export async function insertIssue(trx: Trx, issue: NewRow<'issue'>): Promise<IssueRow> {
  return trx.insertInto('issue').values(issue).returningAll().executeTakeFirstOrThrow();
}

/** What an update sets alike on every issue that it concerns. */
export type IssueColumns = Omit<
  UpdateObject<TenantTables, 'issue'>,
  'workspaceId' | 'id' | 'teamId' | 'number' | 'activityCount'
>;

/** The columns of a change to what an issue says of itself: whoever read it before must not overwrite it unseen. */
export function revised(columns: IssueColumns): IssueColumns {
  return { ...columns, revision: sql<number>`issue.revision + 1` };
}

/** A column's value for each issue, where one update is to give them different ones. */
export function perIssue<Value extends string | Date | null>(
  values: readonly (readonly [issueId: string, value: Value])[],
  type: 'uuid' | 'timestamptz',
): Value | RawBuilder<Value> {
  const [first] = values;
  if (first && values.length === 1) return first[1];
  const ids = values.map(([id]) => id);
  const given = values.map(([, value]) => (value instanceof Date ? value.toISOString() : value));
  return sql<Value>`(${given}::${sql.raw(type)}[])[array_position(${ids}::uuid[], issue.id)]`;
}

/** Changes locked issues and counts the change. */
export async function updateIssues(
  trx: Trx,
  ids: Iterable<string>,
  columns: IssueColumns,
): Promise<IssueRow[]> {
  return trx
    .updateTable('issue')
    .set(revised(columns))
    .where('id', '=', anyUuid(ids))
    .returningAll()
    .execute();
}

/** Changes locked issues and makes room in their feeds: `activityCount` is the place of the new entry. */
export async function updateIssuesWithActivity(
  trx: Trx,
  ids: Iterable<string>,
  nowUtc: Date,
  columns: IssueColumns,
): Promise<IssueRow[]> {
  return trx
    .updateTable('issue')
    .set(columns)
    .set((eb) => ({
      activityCount: eb('activityCount', '+', 1),
      lastActivityUtc: nowUtc,
    }))
    .where('id', '=', anyUuid(ids))
    .returningAll()
    .execute();
}
