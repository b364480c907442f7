import { sql, type UpdateObject } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import { PreparedSelect, StatementsByForm } from './query/prepared-select.ts';
import type { StatementTarget } from './engine/statement-target.ts';
import { slot } from './statements/slots.ts';
import type { Row } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { TenantDb, TenantTables } from './tables/tenant-tables.ts';

export type IssueRow = Row<'issue'>;

/** How a client identifies an issue: by the two parts of its key, or by its id. */
export type IssueName = { teamCode: string; number: number } | { id: string };

/** The columns of an issue that are needed to find and lock it. */
export interface NamedIssue {
  id: string;
  teamId: string;
  teamCode: string;
  number: number;
  parentIssueId: string | null;
}

/** Finds issues that are not deleted, by key or id, in no particular order. */
export async function selectIssuesNamed(db: TenantDb, names: readonly IssueName[]): Promise<NamedIssue[]> {
  const keys = names.filter((name) => 'number' in name);
  const ids = names.flatMap((name) => ('id' in name ? [name.id] : []));
  const byKey = issuesByKey(db, keys).where('issue.deletedUtc', 'is', null);
  const byId = issuesById(db, ids).where('issue.deletedUtc', 'is', null);
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

/** Finds an issue by key or id; a deleted issue only if `deleted`. */
export async function selectIssueNamed(
  target: StatementTarget,
  name: IssueName,
  { deleted = false } = {},
): Promise<NamedIssue | undefined> {
  const named = 'id' in name ? 'id' : 'key';
  const [issue] = await namedIssues.send(target, { named, deleted }, { ...name });
  return issue;
}

const namedIssues = new StatementsByForm<{ named: 'key' | 'id'; deleted: boolean }, NamedIssue>(
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

/** Issues that are locked until the transaction ends, and a time that is not earlier than any entry of their feeds. */
export interface LockedIssues {
  issues: Map<string, IssueRow>;
  /**
   * The time of the database, since the clocks of servers differ, or the time of the newest feed entry if that is
   * later.
   */
  nowUtc: Date;
}

/** Locks issues, including deleted ones. The order of their ids prevents deadlocks. */
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

/** The columns that an update sets. */
export type IssueColumns = Omit<
  UpdateObject<TenantTables, 'issue'>,
  'workspaceId' | 'id' | 'teamId' | 'number' | 'activityCount'
>;

/**
 * The columns of a change, with an increased revision, so that clients that read the issue before cannot overwrite it
 * unknowingly.
 */
export function withNextRevision(columns: IssueColumns): IssueColumns {
  return { ...columns, revision: sql<number>`issue.revision + 1` };
}
