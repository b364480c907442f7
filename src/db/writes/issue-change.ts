import { sql } from 'kysely';
import { type Beside, besideColumns, type BesideTable, revisionSeen } from './issue-beside.ts';
import { type ChangeableColumn, changeable, issueColumns, jsonName } from '../../model/issue-columns.ts';
import { type IssueRow, revised } from '../issues.ts';
import { PreparedSelect, StatementsByShape, type Values } from '../query/prepared.ts';
import { typed } from '../query/slots.ts';
import { movedCounts } from './write-counts.ts';
import {
  composed,
  enteredInFeed,
  freeIssues,
  inCategories,
  lockedIssue,
  type Part,
  type Parts,
  partsOf,
} from './write-parts.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

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
  /** Is it one of several, of as many issues, those of which that nobody else has locked. */
  several: boolean;
}

/** A change as it is given to a statement of several. */
export interface AskedChange {
  entry: string;
  actor: string;
  text: string;
  set: Partial<Record<ChangeableColumn, string | number | null>>;
}

/** Changes as their statement takes them, in the order of their issues' names. */
export function changeValues(changes: readonly AskedChange[]): Values {
  const rows = changes.map(({ set, ...change }, place) => {
    const columns = Object.entries(set).map(([column, value]) => [jsonName(column), value]);
    return { ...change, ...Object.fromEntries(columns), place: place + 1 };
  });
  return { asked: JSON.stringify(rows) };
}

/**
 * The issue as it is then, and its place among several; `revisionSeen` is there where it tells of anything besides.
 */
export type IssueChanged = IssueRow & Beside & { place?: number; revisionSeen?: number | null };

/**
 * Changes living issues with all that goes with it, by one statement; no row of one that is not there, is there at
 * another revision, or is locked while others go with it.
 */
export const issueChanges = new StatementsByShape<IssueChangeShape, IssueChanged>((db, shape) => {
  const place = shape.several ? (['place'] as const) : [];
  const besides = shape.beside.length > 0 ? (['revisionSeen', ...shape.beside] as const) : [];
  return new PreparedSelect<IssueChanged>(issueChange(db, shape), [...issueColumns, ...place, ...besides]);
});

const countedColumns: readonly ChangeableColumn[] = ['statusId', 'projectId', 'deliveryId', 'estimateValue'];

function issueChange(db: TenantDb, shape: IssueChangeShape) {
  const parts = partsOf(db);
  const { named, revision, several, beside } = shape;
  const counts = shape.columns.some((column) => countedColumns.includes(column));
  return composed(db, [
    several ? asked(parts, shape.columns) : undefined,
    several ? freeIssues(parts, named) : lockedIssue(parts, named, revision),
    ['changed', changed(parts, shape)],
    enteredInFeed(parts, several),
    ...(counts ? movedCounts(db, 'changed') : []),
  ])
    .selectFrom('changed')
    .select(issueColumns)
    .$if(several, (query) => query.select('changed.place'))
    .$if(beside.length > 0, (query) =>
      query.select(revisionSeen(parts)).select(besideColumns(parts, beside, { counts, several })),
    );
}

/** Several changes, each with its place. */
function asked(parts: Parts, columns: readonly ChangeableColumn[]): Part {
  const set = columns.map((column) => [jsonName(column), changeable[column]] as const);
  const all = [['place', 'int'], ['entry', 'uuid'], ['actor', 'uuid'], ['text', 'text'], ...set] as const;
  const definitions = sql.raw(all.map(([name, type]) => `"${name}" ${type}`).join(', '));
  const ones = sql<object>`json_to_recordset(${typed('asked', 'json')})`;
  return ['asked', parts.selectFrom(ones.as<'one'>(sql`one(${definitions})`)).selectAll()];
}

function changed(parts: Parts, { columns, closing, several }: IssueChangeShape) {
  const value = (column: ChangeableColumn) =>
    several ? sql.ref(`asked.${jsonName(column)}`) : typed(column, changeable[column]);
  const update = parts
    .updateTable('issue')
    .from('locked')
    .set(revised(Object.fromEntries(columns.map((column) => [column, value(column)]))))
    .set((eb) => ({
      activityCount: eb('issue.activityCount', '+', 1),
      lastActivityUtc: eb.ref('locked.at'),
      updatedUtc: eb.ref('locked.at'),
      ...(closing !== undefined && { closedUtc: closing ? closedSince : null }),
    }))
    .whereRef('issue.id', '=', 'locked.id')
    .returningAll('issue');
  if (!several) return update;
  return update.innerJoin('asked', 'asked.place', 'locked.place').returning(['locked.place', 'asked.actor']);
}

/** From one terminal status to another it stays as it was. */
const closedSince = sql<Date | null>`case when ${inCategories(
  sql.ref('locked.statusRank'),
  'completed',
  'canceled',
)} then locked.closed_utc else locked.at end`;
