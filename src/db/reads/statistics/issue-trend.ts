import { type Expression, sql, type SqlBool } from 'kysely';
import { clampedSum } from '../../query/totals/aggregates.ts';
import { type AnyRow, untypedParts, untyped } from '../../query/any-tables.ts';
import { isAlways, predicateSql } from '../../query/conditions/predicate.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';
import {
  type CountedIssues,
  findIssues,
  hasMoreIssues,
  type IssueChoice,
  issuesOfSmallWorkspace,
  matchingIssues,
  selectCountedIssues,
} from './counted-issues.ts';
import { groupColumn, type StatsColumn, withGroups } from './issue-groups.ts';
import { selectHistoryStart, type Span, spanTimes } from './trend-spans.ts';

/** What happened in one period to the issues of one group; also when the history of the workspace begins. */
export interface TrendRow extends Partial<Record<StatsColumn, string | number | null>> {
  historySinceUtc: Date | null;
  /** The number of the period, from 1; null if nothing happened in any period. */
  period: number | null;
  created: number;
  started: number;
  closed: number;
  createdEstimate: number;
  startedEstimate: number;
  closedEstimate: number;
  /** The median and the 85th and 95th percentiles, in seconds; null if no issue has such a time. */
  cycleTime: number[] | null;
  leadTime: number[] | null;
}

const events = {
  created: 'createdUtc',
  started: 'startedUtc',
  closed: 'closedUtc',
} as const;
type Event = keyof typeof events;
const eventNames = Object.keys(events) as Event[];
const durations = ['cycleTime', 'leadTime'] as const;

/** The periods of a trend, the columns that it is grouped by, and the maximum number of groups that it returns. */
interface TrendForm {
  readonly periods: readonly Span[];
  readonly columns: readonly StatsColumn[];
  readonly limit: number;
}

/**
 * Counts the issues that were created, started and closed in each period. Each period is a range of an index, so the
 * cost depends on the issues in it only. The groups with the most events are returned, in this order. One statement
 * suffices, except in a large workspace. Undefined if far more than `maxIssues` issues would have to be read.
 */
export async function selectIssueTrend(
  db: TenantDb,
  choice: IssueChoice,
  form: TrendForm,
  maxIssues: number,
): Promise<TrendRow[] | undefined> {
  // Without a filter and groups, everything is counted in the indexes of the three times.
  const isCovered = isAlways(choice.filter) && form.columns.length === 0;
  const maxEvents = maxIssues * (isCovered ? indexEventsPerIssue : tableEventsPerIssue);
  const small = Math.floor(maxEvents / eventNames.length);
  const found = await trendOf(db, issuesOfSmallWorkspace(db, choice, small), form);
  if (found.some(({ period }) => period !== null) || !(await hasMoreIssues(db, small))) return found;
  if ((await eventCount(db, choice, form.periods, maxEvents)) <= maxEvents)
    return trendOf(db, matchingIssues(db, choice), form);
  // Each of the issues is compared with each of the periods.
  const few = await findIssues(
    db,
    choice,
    Math.floor((maxIssues * comparisonsPerIssue) / form.periods.length),
  );
  return few && trendOf(db, few, form);
}

/** How many events cost as much to count as one issue costs to read: in indexes alone, and in rows of the table. */
const indexEventsPerIssue = 8;
const tableEventsPerIssue = 2;

/** How many comparisons of an issue with a period cost as much as reading an issue. */
const comparisonsPerIssue = 8;

/** The number of events in all periods together. At most one more than `maxEvents` of each kind are counted. */
async function eventCount(
  db: TenantDb,
  { where }: IssueChoice,
  periods: readonly Span[],
  maxEvents: number,
): Promise<number> {
  const handle = untyped(db);
  const counts = eventNames.map((event) => {
    const column = `r0.${events[event]}`;
    const some = handle
      .selectFrom('issue as r0')
      .select(sql.lit(1).as('found'))
      .where(predicateSql(where, 'r0'))
      .where(column, '>=', periods[0]?.startUtc)
      .where(column, '<', periods.at(-1)?.endUtc)
      .limit(sql.lit(maxEvents + 1));
    return sql`(${handle.selectFrom(some.as('some')).select(sql`count(*)`.as('count'))})`;
  });
  const { rows } = await sql<{ count: number }>`select ${sql.join(counts, sql` + `)} as count`.execute(db);
  return Number(rows[0]?.count);
}

async function trendOf(
  db: TenantDb,
  issues: CountedIssues,
  { periods, columns, limit }: TrendForm,
): Promise<TrendRow[]> {
  const { starts, ends } = spanTimes(periods);
  const handle = untypedParts(db);
  const grouped = columns.length > 0;
  const groups = sql.join(columns.map((column) => sql.ref(column)));
  const countedEvents = (event: Event) => eventsOf(selectCountedIssues(handle, issues), event, columns);
  const happened = countedEvents('created')
    .unionAll(countedEvents('started'))
    .unionAll(countedEvents('closed'))
    .as('happened');
  const inPeriods = handle
    .selectFrom(
      sql<AnyRow>`unnest(${starts}::text[]::timestamptz[], ${ends}::text[]::timestamptz[]) with ordinality`.as<'span'>(
        sql`span(start_utc, end_utc, period)`,
      ),
    )
    .innerJoinLateral(happened, (join) => join.onTrue())
    .select(['span.period', ...columns.map((column) => `happened.${column}`)])
    .select(eventNames.map((name) => sql<number>`sum(${sql.ref(`happened.${name}`)})::int`.as(name)))
    .select(eventNames.map((name) => clampedSum(`happened.${name}Estimate`).as(`${name}Estimate`)))
    .select(durations.map((time) => sql`max(${sql.ref(`happened.${time}`)})`.as(time)))
    .groupBy(['span.period', ...columns.map((column) => `happened.${column}`)]);
  const totalled = handle
    .selectFrom(inPeriods.as('inPeriods'))
    .selectAll('inPeriods')
    .select((grouped ? sql`sum(${all}) over (partition by ${groups})` : sql`0`).as('total'))
    .where(sql<SqlBool>`${all} > 0`);
  const ranked = handle
    .selectFrom(totalled.as('totalled'))
    .selectAll('totalled')
    .select((grouped ? sql`dense_rank() over (order by total desc, ${groups})` : sql`1`).as('rank'));
  const rows = await selectHistoryStart(issues.outer)
    .leftJoin(ranked.as('ranked'), (join) => join.on('rank', '<=', limit))
    .select([...columns, ...eventNames, ...eventNames.map((name) => `${name}Estimate`), ...durations])
    .select(sql`period::int`.as('period'))
    .orderBy('rank')
    .orderBy('period')
    .execute();
  // The names of some columns are data, so Kysely does not know the type of the rows.
  return rows as unknown as TrendRow[];
}

const all = sql.join(
  eventNames.map((name) => sql.ref(name)),
  sql` + `,
);

/** The issues of one period with one kind of event, by groups. The other kinds are 0, so that all can be added up. */
function eventsOf(
  issues: ReturnType<typeof selectCountedIssues>,
  event: Event,
  columns: readonly StatsColumn[],
) {
  return withGroups(issues, columns)
    .select(columns.map((column) => sql`${sql.ref(groupColumn(column))}`.as(column)))
    .select(eventNames.map((name) => (name === event ? sql`count(*)` : sql`0::bigint`).as(name)))
    .select(
      eventNames.map((name) =>
        (name === event ? clampedSum('r0.estimateValue') : sql`0`).as(`${name}Estimate`),
      ),
    )
    .select((event === 'closed' ? percentiles('startedUtc') : sql`null::int[]`).as('cycleTime'))
    .select((event === 'closed' ? percentiles('createdUtc') : sql`null::int[]`).as('leadTime'))
    .where(within(events[event]))
    .$if(columns.length > 0, (query) => query.groupBy(columns.map(groupColumn)));
}

function within(column: string): Expression<SqlBool> {
  const time = sql.ref(`r0.${column}`);
  return sql<SqlBool>`(${time} >= ${sql.ref('span.startUtc')} and ${time} < ${sql.ref('span.endUtc')})`;
}

/**
 * The percentiles of the time from a column to the closing. The minimum is 0, because imported times may be out of
 * order.
 */
function percentiles(since: 'startedUtc' | 'createdUtc') {
  const column = sql.ref(`r0.${since}`);
  const seconds = sql`floor(extract(epoch from r0.closed_utc - ${column}))`;
  return sql`percentile_disc(array[0.5, 0.85, 0.95])
    within group (order by least(greatest(${seconds}, 0), 2147483647)::int) filter (where ${column} is not null)`;
}
