import { type Kysely, sql } from 'kysely';
import { type Beside, besideColumns, type BesideTable, revisionSeen } from './issue-beside.ts';
import { issueColumns, type IssueRow, revised } from './issues.ts';
import { PreparedSelect, StatementsByShape } from './prepared.ts';
import { slot, typed } from './slots.ts';
import type { Tables } from './tables.ts';
import { movedCounts } from './write-counts.ts';
import { composed, enteredInFeed, inCategories, lockedIssue, type Parts, partsOf } from './write-parts.ts';

/** The columns of an issue that a change can set by itself, with their types. */
const changeable = {
  title: 'text',
  titleFold: 'text',
  description: 'text',
  priority: 'smallint',
  statusId: 'uuid',
  statusRank: 'int',
  projectId: 'uuid',
  deliveryId: 'uuid',
  estimateValue: 'int',
  dueDate: 'date',
} as const;
export type ChangeableColumn = keyof typeof changeable;

/** What a change is made of. */
export interface IssueChangeShape {
  columns: readonly ChangeableColumn[];
  /** Where it comes to another status: does that close it. */
  closing?: boolean | undefined;
  /** Is it meant for one revision alone. */
  revision: boolean;
  /** How the issue is found: by its id, or by its number in a team. */
  named: 'id' | 'number';
  /** What it tells of besides. */
  beside: readonly BesideTable[];
}

/** The issue as it is then; `revisionSeen` is there where it tells of anything besides. */
export type IssueChanged = IssueRow & Beside & { revisionSeen?: number | null };

/**
 * Changes one living issue with all that goes with it, by one statement; no row when there is none, or at another
 * revision.
 */
export const issueChanges = new StatementsByShape<IssueChangeShape, IssueChanged>((db, shape) => {
  const besides = shape.beside.length > 0 ? (['revisionSeen', ...shape.beside] as const) : [];
  return new PreparedSelect<IssueChanged>(issueChange(db, shape), [...issueColumns, ...besides]);
});

const countedColumns: readonly ChangeableColumn[] = ['statusId', 'projectId', 'deliveryId', 'estimateValue'];

function issueChange(db: Kysely<Tables>, shape: IssueChangeShape) {
  const parts = partsOf(db);
  const counted = shape.columns.some((column) => countedColumns.includes(column));
  return composed(db, [
    lockedIssue(parts, shape.named, shape.revision),
    ['changed', changed(parts, shape)],
    enteredInFeed(parts, typed('text', 'text')),
    ...(counted ? movedCounts(db, 'changed') : []),
  ])
    .selectFrom('changed')
    .select(issueColumns)
    .$if(shape.beside.length > 0, (query) =>
      query.select(revisionSeen(parts)).select(besideColumns(parts, shape.beside, counted)),
    );
}

function changed(parts: Parts, { columns, closing }: IssueChangeShape) {
  const set = Object.fromEntries(columns.map((column) => [column, typed(column, changeable[column])]));
  return parts
    .updateTable('issue')
    .from('locked')
    .set(revised(set))
    .set((eb) => ({
      activityCount: eb('issue.activityCount', '+', 1),
      lastActivityUtc: eb.ref('locked.at'),
      updatedUtc: eb.ref('locked.at'),
      ...(closing !== undefined && { closedUtc: closing ? closedSince : null }),
    }))
    .where('issue.workspaceId', '=', slot('workspaceId'))
    .whereRef('issue.id', '=', 'locked.id')
    .returningAll('issue');
}

/** From one terminal status to another it stays as it was. */
const closedSince = sql<Date | null>`case when ${inCategories(
  sql.ref('locked.statusRank'),
  'completed',
  'canceled',
)} then locked.closed_utc else locked.at end`;
