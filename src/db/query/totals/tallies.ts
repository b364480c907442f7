import { type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import { noLabel, tallyKinds, type TallyKind } from '../../tables/tallies.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';
import { uuidTexts } from '../../wire/uuid-bytes.ts';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import { conjunctsOf, type Predicate, predicateSql } from '../conditions/predicate.ts';
import { row, type Source } from '../walks/walk.ts';

/** A kind of tally that gives the number of issues that match a filter, and the filter as a condition on its rows. */
export interface TallyChoice {
  readonly kind: TallyKind;
  readonly filter: Predicate;
}

/** The column of issues that each kind has in addition to their team and their status. */
const ownColumns: Readonly<Record<Exclude<TallyKind, 'team'>, string>> = {
  primaryAssignee: 'primaryAssigneeUserAccountId',
  label: 'labelId',
  project: 'projectId',
  delivery: 'deliveryId',
};

const sharedColumns: ReadonlySet<string> = new Set(['teamId', 'statusId']);
const priorityColumns: ReadonlySet<string> = new Set(['priority', 'priorityRank']);

/**
 * The kind of tally that has all columns of a filter and of groups; undefined if no kind has them. An issue is tallied
 * once for each of its labels, so the filter may name a single label or the groups may be labels, but not both.
 */
export function tallyFor(
  { table, parent }: Source,
  filter: Predicate,
  groups: readonly string[] = [],
): TallyChoice | undefined {
  if (table !== 'issue' || (parent && !('column' in parent))) return undefined;
  const parts = conjunctsOf(filter).map(withLabelColumn);
  const columns = new Set(parent ? [parent.column, ...groups] : groups);
  if (!parts.every((part) => addColumns(part, columns))) return undefined;
  const labels = parts.filter((part) => 'column' in part && part.column === ownColumns.label).length;
  if (labels + Number(groups.includes(ownColumns.label)) > 1) return undefined;
  const kind = kindOf(columns);
  return kind && { kind, filter: { all: parts } };
}

function kindOf(columns: ReadonlySet<string>): TallyKind | undefined {
  const others = [...columns].filter((column) => !sharedColumns.has(column));
  if (others.every((column) => priorityColumns.has(column))) return 'team';
  const [only, ...more] = others;
  if (more.length > 0) return undefined;
  const found = Object.entries(ownColumns).find(([, column]) => column === only);
  return found?.[0] as TallyKind | undefined;
}

/** Turns a condition that issues have one label into a condition on the rows of its tally. */
function withLabelColumn(part: Predicate): Predicate {
  if (!('through' in part) || part.through.table !== 'issueLabel' || part.own !== 'id') return part;
  const [label, ...others] = conjunctsOf(part.where);
  if (!label || others.length > 0 || !('column' in label)) return part;
  const isKey = label.column === 'id' || label.column === part.through.child;
  const isOne =
    ('is' in label && label.is === 'eq') ||
    ('in' in label && Array.isArray(label.in) && label.in.length === 1) ||
    ('among' in label && Buffer.isBuffer(label.among) && uuidTexts(label.among, 0).length === 1);
  return isKey && isOne ? { ...label, column: ownColumns.label } : part;
}

/** Adds the columns of a condition to `columns`. Returns false if the condition cannot be one on tallies. */
function addColumns(part: Predicate, columns: Set<string>): boolean {
  if ('all' in part) return part.all.every((each) => addColumns(each, columns));
  if ('any' in part) return part.any.every((each) => addColumns(each, columns));
  if ('not' in part) return addColumns(part.not, columns);
  if (!('column' in part)) return false;
  columns.add(part.column);
  return true;
}

type Rows = SelectQueryBuilder<AnyTables, 'issueTally', AnyRow>;

/**
 * The tallies of a kind with the columns of the issues that they count, their number and the sum of their estimates.
 */
export function talliedRows(
  db: TenantDb,
  { kind, filter }: TallyChoice,
): SelectQueryBuilder<AnyTables, 'r0', object> {
  const rows: Rows = untyped(db)
    .selectFrom('issueTally')
    .select(['teamId', 'statusId', 'priority'])
    // The same formula generates the column of issues, and `priorityRank` in src/model/codes.ts has it for values in
    // memory.
    .select(sql<number>`(priority + 4) % 5`.as('priorityRank'));
  const ofKind: Rows = rows
    .select(['issueCount', 'estimateSum'])
    .where('kind', '=', sql.lit(tallyKinds[kind]));
  const tallies = kind === 'team' ? ofKind : byGroup(kind, { rows, ofKind });
  return untyped(db).selectFrom(tallies.as(row)).where(predicateSql(filter, row));
}

/** The tallies of issues with a value in the kind's column, and of those without one. */
function byGroup(kind: Exclude<TallyKind, 'team'>, { rows, ofKind }: Record<'rows' | 'ofKind', Rows>): Rows {
  const column = ownColumns[kind];
  const grouped: Rows = ofKind.select(`groupId as ${column}`);
  const none = sql<null>`null::uuid`.as(column);
  if (kind === 'label') {
    const isNone = sql<SqlBool>`group_id = ${sql.lit(noLabel)}`;
    return grouped.where(sql<SqlBool>`not ${isNone}`).unionAll(ofKind.select(none).where(isNone));
  }
  // The issues in no group are those of the team's tallies minus those in a group.
  const others = (name: string) =>
    sql<number>`case kind when ${sql.lit(tallyKinds.team)} then ${sql.ref(name)} else -${sql.ref(name)} end`.as(
      name,
    );
  return grouped.unionAll(
    rows
      .select([others('issueCount'), others('estimateSum'), none])
      .where('kind', 'in', [sql.lit(tallyKinds.team), sql.lit(tallyKinds[kind])]),
  );
}
