import { type Expression, type SqlBool, sql } from 'kysely';
import { advisoryLocks } from '../engine/advisory-locks.ts';
import type { SettableColumn } from '../../model/issue-columns.ts';
import { noLabel, type TallyKind, tallyKinds } from '../tables/tallies.ts';
import { Slot } from '../statements/slots.ts';
import type { FollowUp, IssueWrite } from './follow-ups.ts';
import { columnsOf, type Parts, partsOf } from './write-parts.ts';

type Issues = 'changed' | 'locked';

/**
 * For each kind: the column of an issue's group, whether its tallies are also divided by priority, and the column whose change
 * moves an issue to another tally.
 */
const groups: Readonly<
  Record<
    Exclude<TallyKind, 'label'>,
    { group: 'teamId' | SettableColumn; priority?: true; changedBy: SettableColumn }
  >
> = {
  team: { group: 'teamId', priority: true, changedBy: 'priority' },
  primaryAssignee: {
    group: 'primaryAssigneeUserAccountId',
    changedBy: 'primaryAssigneeUserAccountId',
  },
  project: { group: 'projectId', changedBy: 'projectId' },
  delivery: { group: 'deliveryId', changedBy: 'deliveryId' },
};

/** The columns whose change affects tallies of every kind. */
const countedByAll: readonly SettableColumn[] = ['statusId', 'estimateValue', 'deletedUtc'];

function affectedKinds(write: IssueWrite): TallyKind[] {
  const kinds = Object.keys(tallyKinds) as TallyKind[];
  if (write.kind === 'insert')
    return write.inDeliveryOrProject
      ? kinds
      : kinds.filter((kind) => kind !== 'project' && kind !== 'delivery');
  const { columns } = write;
  if (columns.some((column) => countedByAll.includes(column))) return kinds;
  return kinds.filter((kind) => columns.includes(kind === 'label' ? 'labelIds' : groups[kind].changedBy));
}

/**
 * Subtracts issues as they were from their tallies, and adds them as they are now. Differences of zero are not written.
 * Tallies are locked in the order of their keys, which prevents deadlocks of writes that share a slot.
 */
export const tallyParts: FollowUp = (db, write) => {
  const kinds = affectedKinds(write);
  if (kinds.length === 0) return [];
  const parts = partsOf(db);
  const now = tallyDeltas(parts, 'changed', 1, kinds);
  const { columns, selections } = columnsOf<'issueTally'>({
    kind: sql.ref('kind'),
    groupId: sql.ref('groupId'),
    teamId: sql.ref('teamId'),
    statusId: sql.ref('statusId'),
    priority: sql.ref('priority'),
    slot: ownSlot,
    issueCount: countDelta,
    estimateSum: estimateDelta,
  });
  const rows = parts
    .selectFrom('tallied')
    .select(selections)
    .groupBy(['kind', 'groupId', 'teamId', 'statusId', 'priority'])
    .having(sql<SqlBool>`(${countDelta} <> 0 or ${estimateDelta} <> 0)`)
    .orderBy('kind')
    .orderBy('groupId')
    .orderBy('statusId')
    .orderBy('priority');
  const inTallies = parts
    .insertInto('issueTally')
    .columns(columns)
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['kind', 'groupId', 'statusId', 'priority', 'slot']).doUpdateSet((eb) => ({
        issueCount: eb('issueTally.issueCount', '+', eb.ref('excluded.issueCount')),
        estimateSum: eb('issueTally.estimateSum', '+', eb.ref('excluded.estimateSum')),
      })),
    );
  return [
    ['tallied', write.kind === 'insert' ? now : tallyDeltas(parts, 'locked', -1, kinds).unionAll(now)],
    ['inTallies', inTallies],
  ];
};

const countDelta = sql<number>`sum(sign)`;
const estimateDelta = sql<number>`sum(sign * estimate)`;

/** What issues that are not deleted subtract from their tallies, or add to them. */
function tallyDeltas(parts: Parts, issues: Issues, sign: 1 | -1, kinds: readonly TallyKind[]) {
  const values = kinds.flatMap((kind) => {
    if (kind === 'label') return [];
    const { group, priority } = groups[kind];
    const ofIssue = (column: string) => sql.ref(`${issues}.${column}`);
    return [
      sql`(${sql.lit(tallyKinds[kind])}, ${ofIssue(group)}, ${priority ? ofIssue('priority') : sql.lit(0)})`,
    ];
  });
  const ofLabels = sql`select ${sql.lit(tallyKinds.label)}, label_id, 0 from unnest(${labelsOf(parts, issues)}) label_id`;
  const rows = [
    ...(values.length > 0 ? [sql`values ${sql.join(values)}`] : []),
    ...(kinds.includes('label') ? [ofLabels] : []),
  ];
  const grouped = sql<{ kind: number; groupId: string | null; priority: number }>`(${sql.join(
    rows,
    sql` union all `,
  )})`;
  return parts
    .selectFrom(issues)
    .innerJoinLateral(grouped.as<'one'>(sql`one(kind, group_id, priority)`), (join) => join.onTrue())
    .select(['one.kind', 'one.groupId', `${issues}.teamId`, `${issues}.statusId`, 'one.priority'])
    .select([sql.lit(sign).as('sign'), sql<number>`coalesce(estimate_value, 0)`.as('estimate')])
    .where('deletedUtc', 'is', null)
    .where('one.groupId', 'is not', null);
}

/**
 * The labels of an issue, or the group of issues without a label. Issues that an earlier version wrote may lack the
 * copy of their labels in `label_ids`.
 */
function labelsOf(parts: Parts, issues: Issues): Expression<unknown> {
  const labelIds = parts
    .selectFrom('issueLabel')
    .select('labelId')
    .where('issueId', '=', sql.ref<string>(`${issues}.id`));
  const labels = sql`coalesce(${sql.ref(`${issues}.labelIds`)}, array(${labelIds}))`;
  return sql`coalesce(nullif(${labels}, '{}'), array[${sql.lit(noLabel)}::uuid])`;
}

/** The number of slots of a workspace. Up to this many concurrent writes have a slot of their own. */
const slots = 32;

/**
 * The first slot that no other transaction of the workspace holds; this one holds it until its end. So writers of one
 * team do not wait for each other, and only as many slots are used as there are concurrent writes. If all are held, a
 * slot is shared.
 */
const ownSlot = sql<number>`coalesce(
  (select free from generate_series(1, ${sql.lit(slots)}) free
    where pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.tallySlots)}, hashtext(${new Slot('workspaceId')}::text || free)) limit 1),
  1 + abs(pg_backend_pid()) % ${sql.lit(slots)})::smallint`;
