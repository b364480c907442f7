import { type Expression, sql } from 'kysely';
import type { SettableColumn } from '../../model/issue-columns.ts';
import type { IssueColumns } from '../issues.ts';
import type { FollowUp } from './follow-ups.ts';
import { countedColumns, inCategories, mayChangeCounts } from './issue-counts.ts';
import { newValue, type StoredColumn, valueBefore } from './issue-parts.ts';
import { columnsOf, type Part, type Parts, partsOf } from './write-parts.ts';

/**
 * The columns that follow from a change of these columns: the number of the stage, if another one begins, and the time
 * at which the issue was first in an active status.
 */
export function stageColumns(columns: readonly SettableColumn[]): IssueColumns {
  const staged = countedColumns.filter((column) => columns.includes(column));
  if (staged.length === 0) return {};
  const changes = staged.map(
    (column) =>
      sql`${stagedValue(column, sql.ref(`locked.${column}`))} is distinct from ${stagedValue(column, newValue(column))}`,
  );
  return {
    stageCount: sql<number>`issue.stage_count + (${sql.join(changes, sql` or `)})::int`,
    ...(staged.includes('statusId') && { startedUtc: startedSince }),
  };
}

/** The value that distinguishes stages. Of a deletion time, only its presence matters. */
function stagedValue(column: SettableColumn, value: Expression<unknown>): Expression<unknown> {
  return column === 'deletedUtc' ? sql`(${value} is null)` : value;
}

const newRank = sql<number>`${newValue('statusRank')}`;
// An issue that was already active, since an unknown time, keeps an unknown start.
const startedSince = sql<Date | null>`case when issue.started_utc is null
  and not ${inCategories(sql.ref('locked.statusRank'), 'active')} and ${inCategories(newRank, 'active')}
  then locked.at else issue.started_utc end`;

/** Writes the first stage of new issues, and the next stage of issues of which a counted column has changed. */
export const stageParts: FollowUp = (db, write) => {
  const parts = partsOf(db);
  if (write.kind === 'insert') {
    if (write.history) return [];
    const first = stage(valueNow, {
      sortOrder: sql.ref('changed.stageCount'),
      sinceUtc: sql.ref('changed.createdUtc'),
      untilUtc: sql`null::timestamptz`,
      previousStatusId: sql`null::uuid`,
      previousDeleted: sql`true`,
    });
    return [insertStagesPart(parts, first.columns, parts.selectFrom('changed').select(first.selections))];
  }
  if (!mayChangeCounts(write.columns)) return [];
  const ended = stage(valueBefore, {
    sortOrder: valueBefore('stageCount'),
    sinceUtc: valueBefore('createdUtc'),
    untilUtc: sql.ref('changed.at'),
    previousStatusId: sql`null::uuid`,
    previousDeleted: sql`null::boolean`,
  });
  const next = stage(valueNow, {
    sortOrder: sql.ref('changed.stageCount'),
    sinceUtc: sql.ref('changed.at'),
    untilUtc: sql`null::timestamptz`,
    previousStatusId: valueBefore('statusId'),
    previousDeleted: sql`(${valueBefore('deletedUtc')} is not null)`,
  });
  const withNewStage = parts
    .selectFrom('changed')
    .where(sql<boolean>`changed.stage_count <> ${valueBefore('stageCount')}`);
  return [
    insertStagesPart(
      parts,
      ended.columns,
      withNewStage.select(ended.selections).unionAll(withNewStage.select(next.selections)),
    ),
  ];
};

/** The columns whose previous values a write must return, for the stage that ends. */
export function columnsOfEndedStage(columns: readonly SettableColumn[]): readonly StoredColumn[] {
  return mayChangeCounts(columns) ? [...countedColumns, 'stageCount', 'createdUtc'] : [];
}

/** The columns of a stage. Those of the issue have the values that `value` returns. */
function stage(
  value: (column: StoredColumn) => Expression<unknown>,
  span: Record<
    'sortOrder' | 'sinceUtc' | 'untilUtc' | 'previousStatusId' | 'previousDeleted',
    Expression<unknown>
  >,
) {
  return columnsOf<'issueStage'>({
    issueId: sql.ref('changed.id'),
    ...span,
    teamId: sql.ref('changed.teamId'),
    statusId: value('statusId'),
    deliveryId: value('deliveryId'),
    projectId: value('projectId'),
    estimateValue: value('estimateValue'),
    deleted: sql`${value('deletedUtc')} is not null`,
  });
}

function valueNow(column: StoredColumn): Expression<unknown> {
  return sql.ref(`changed.${column}`);
}

/**
 * Ends the previous stage with `on conflict do update`: unlike an update, this finds the stage even if it was committed
 * after the statement began.
 */
function insertStagesPart(
  parts: Parts,
  columns: ReturnType<typeof stage>['columns'],
  rows: Expression<unknown>,
): Part {
  return [
    'inStages',
    parts
      .insertInto('issueStage')
      .columns(columns)
      .expression(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['issueId', 'sortOrder'])
          .doUpdateSet((eb) => ({ untilUtc: eb.ref('excluded.untilUtc') })),
      ),
  ];
}
