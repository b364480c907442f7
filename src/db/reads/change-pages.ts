import { sql } from 'kysely';
import { loggedColumns } from '../changes.ts';
import { type Predicate, predicateSql } from '../query/conditions/predicate.ts';
import type { Row } from '../tables/tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** A point in the log, as a cursor contains it: a position, and the tag of the sequencer's run that assigned it. */
export interface LogPoint {
  readonly position: number;
  readonly tag: number;
}

/** Where the log of a workspace begins and ends. */
interface LogHead extends LogPoint {
  readonly oldest: number;
}

/** The head of a log in which nothing was written yet. */
const emptyLog: LogHead = { position: 0, oldest: 1, tag: 0 };

export async function selectLogHead(db: TenantDb): Promise<LogHead> {
  const head = await db.selectFrom('changeHead').select(['position', 'oldest', 'tag']).executeTakeFirst();
  return head ?? emptyLog;
}

export type ChangeRow = Row<'change'>;

/** The matching changes among those that one read has examined. */
export interface ChangePageRead {
  readonly head: LogHead;
  /** The tag of the change at the position; null if it is not in the log. */
  readonly tag: number | null;
  /** The last change that the read examined, whether it matched or not; null if no change comes after the position. */
  readonly until: LogPoint | null;
  readonly rows: ChangeRow[];
}

interface ChangePageRequest {
  /** The position to read after; null for the beginning of the log. */
  readonly after: number | null;
  readonly where: Predicate;
  readonly limit: number;
  /** How many changes it may examine. */
  readonly scan: number;
}

const columns = ['workspaceId', 'position', 'tag', ...loggedColumns] as const;

/**
 * Reads the matching changes after a position, oldest first, and the head of the log. It is one statement, so that the
 * head fits the changes. It examines a bounded number of changes, however few of them match.
 */
export async function selectChangePage(db: TenantDb, wanted: ChangePageRequest): Promise<ChangePageRead> {
  const rows = await changePageQuery(db, wanted).execute();
  const [first] = rows;
  if (!first) return { head: emptyLog, tag: null, until: null, rows: [] };
  const { headPosition, oldest, headTag, start, startTag, endPosition, endTag } = first;
  const head = { position: headPosition, oldest, tag: headTag };
  const isEnd = endPosition === null || endTag === null || endPosition <= start;
  return {
    head,
    tag: startTag ?? (start === headPosition ? headTag : null),
    until: isEnd ? null : { position: endPosition, tag: endTag },
    rows: rows.flatMap((row) => (row.position === null ? [] : [changeOf(row)])),
  };
}

export function changePageQuery(db: TenantDb, { after, where, limit, scan }: ChangePageRequest) {
  const upTo = sql<number>`head.start + ${sql.lit(scan)}`.as('upTo');
  return db
    .with('head', (parts) =>
      parts
        .selectFrom('changeHead')
        .select(['position', 'oldest', 'tag'])
        .select(sql<number>`coalesce(${after}::bigint, oldest - 1)`.as('start')),
    )
    .with('page', (parts) =>
      parts
        .selectFrom('change as r0')
        .select(columns.map((column) => `r0.${column}` as const))
        // A join with `head` would read the log from its beginning: PostgreSQL searches an index for values, not for a
        // range that comes from a join.
        .where('r0.position', '>', (eb) => eb.selectFrom('head').select('head.start'))
        .where('r0.position', '<=', (eb) => eb.selectFrom('head').select(upTo))
        .where(predicateSql(where, 'r0'))
        .orderBy('r0.position')
        .limit(limit),
    )
    .selectFrom('head')
    .leftJoin('change as started', 'started.position', 'head.start')
    .leftJoin('change as ended', (join) =>
      join.on('ended.position', '=', (eb) =>
        eb.fn<number>('least', ['head.position', eb('head.start', '+', sql.lit(scan))]),
      ),
    )
    .leftJoin('page', (join) => join.onTrue())
    .select(['head.position as headPosition', 'head.oldest', 'head.tag as headTag', 'head.start'])
    .select(['started.tag as startTag', 'ended.position as endPosition', 'ended.tag as endTag'])
    .select(columns.map((column) => `page.${column}` as const))
    .orderBy('page.position');
}

/** A left join makes all columns nullable to the compiler; a row with a position has the others. */
function changeOf(row: Record<string, unknown>): ChangeRow {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as ChangeRow;
}
