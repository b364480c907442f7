import { sql } from 'kysely';
import { untypedParts } from '../../query/any-tables.ts';
import { isAlways, type Predicate, predicateSql } from '../../query/conditions/predicate.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';
import { tallyKinds } from '../../tables/tallies.ts';
import { boundedStages, endsOf, selectHistoryStart, type Span } from './trend-spans.ts';

/** A number of issues whose status is in a category. */
export interface FlowRow {
  historySinceUtc: Date | null;
  /** Null for stages whose status is not known; such an issue was not closed. */
  category: number | null;
  /**
   * `current`: how many issues there are. `entered`, `left`: how many entered the category, or left it, after `endedPeriods` of the
   * periods had ended and before the next one did.
   */
  measure: 'current' | 'entered' | 'left' | null;
  endedPeriods: number;
  count: number;
}

/** The columns with the status and the deletion of the issue: during the stage, or before it. */
interface StateColumns {
  readonly status: 'statusId' | 'previousStatusId';
  readonly deleted: 'deleted' | 'previousDeleted';
}

/**
 * The current numbers of issues in each category, and how many entered and left it since the end of the first period. The
 * numbers at the end of each period follow from these. Only issues of matching teams count. The one statement reads the
 * stages of all teams that began in this time from one index. Undefined if there are more than `maxStages`.
 */
export async function selectIssueFlow(
  db: TenantDb,
  teams: Predicate,
  periods: readonly Span[],
  maxStages: number,
): Promise<FlowRow[] | undefined> {
  const handle = untypedParts(db);
  const ends = endsOf(periods);
  const stages = handle.selectFrom('issueStage').where(sql<boolean>`issue_stage.since_utc >= (${ends})[1]`);
  const { outer, stageCount, areFew } = boundedStages(db, stages, maxStages);
  const ofTeams = (teamId: 'issueTally.teamId' | 'issueStage.teamId') =>
    isAlways(teams)
      ? sql<boolean>`true`
      : sql<boolean>`${sql.ref(teamId)} in (${handle
          .selectFrom('team as r0')
          .select('r0.id')
          .where(predicateSql(teams, 'r0'))})`;
  const now = handle
    .selectFrom('issueTally')
    .select(['issueTally.statusId', sql<string>`'current'`.as('measure'), sql<number>`0`.as('endedPeriods')])
    .select(sql<number>`sum(issue_count)`.as('count'))
    .where('kind', '=', sql.lit(tallyKinds.team))
    .where(ofTeams('issueTally.teamId'))
    .groupBy('issueTally.statusId');
  const changesOf = (measure: 'entered' | 'left', { status, deleted }: StateColumns) =>
    stages
      .select([
        sql.ref<string>(`issueStage.${status}`).as('statusId'),
        sql.lit<string>(measure).as('measure'),
      ])
      .select(sql<number>`width_bucket(issue_stage.since_utc, ${ends})`.as('endedPeriods'))
      .select(sql<number>`count(*)`.as('count'))
      .where(areFew)
      .where(ofTeams('issueStage.teamId'))
      .where(sql<boolean>`not ${sql.ref(`issueStage.${deleted}`)}`)
      .groupBy([`issueStage.${status}`, 'endedPeriods']);
  const counted = now
    .unionAll(changesOf('entered', { status: 'statusId', deleted: 'deleted' }))
    .unionAll(changesOf('left', { status: 'previousStatusId', deleted: 'previousDeleted' }));
  const byCategory = handle
    .selectFrom(counted.as('counted'))
    .leftJoin('status', 'status.id', 'counted.statusId')
    .select(['status.category', 'counted.measure', 'counted.endedPeriods'])
    .select(sql<number>`sum(counted.count)::int`.as('count'))
    .groupBy(['status.category', 'counted.measure', 'counted.endedPeriods']);
  const rows = await selectHistoryStart(outer)
    .select(sql<number>`${stageCount}`.as('stages'))
    .leftJoin(byCategory.as('flow'), (join) => join.onTrue())
    .select(['flow.category', 'flow.measure', 'flow.endedPeriods', 'flow.count'])
    .execute();
  // The names of some columns are data, so Kysely does not know the type of the rows.
  const found = rows as unknown as (FlowRow & { stages: number })[];
  return found.some((row) => row.stages > maxStages) ? undefined : found;
}
