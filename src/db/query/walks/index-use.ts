import { joinIndexes, type ListIndex, listIndexes, textTables } from '../../tables/list-indexes.ts';
import type { TableName } from '../../tables/tables.ts';
import { conjunctsOf, type Predicate, readsCopy } from '../conditions/predicate.ts';
import type { Walk } from './walk.ts';

/** How indexes serve a walk: which of its conditions the index of its order satisfies, and which conditions match few rows. */
export interface IndexUse {
  /** Whether one range of an index has exactly the rows of the page, so that reading them needs no bound. */
  readonly isServed: boolean;
  /**
   * The same for several parents at once. A list of ids does not suffice then: the rows of all parents might be
   * compared with it.
   */
  readonly isServedForMany: boolean;
  /** Whether an index has the rows of each parent in the order of the walk. */
  readonly isOrderedByParent: boolean;
  /** The conditions that the range of the index satisfies. */
  readonly rangeConditions: Predicate;
  /** The conditions that are checked on each row. */
  readonly rowConditions: Predicate;
  /**
   * Whether the index also contains deleted rows, so that a step that reads along it checks the condition of the source on each
   * row.
   */
  readonly hasDeleted: boolean;
  /** Whether a join table has the parents of the rows. */
  readonly isJoined: boolean;
  /**
   * How many rows are read for each row that a step examines: the row itself; one for each condition that needs a related row;
   * the rows of the join table that connect it with its parents; and with `hasDeleted` the row again to find the stop, because
   * such an index need not contain the ids.
   */
  readonly weight: number;
  /** The conditions by which an index finds the matching rows, in another order. */
  readonly candidates: readonly Candidate[];
}

/** A condition whose matches an index finds, in another order than that of the list. */
export interface Candidate {
  readonly condition: Predicate;
  /** The rest of the filter. */
  readonly rest: Predicate;
  /**
   * What counting its matches reads: an entry of an index for each (`rows`), two rows for each of a condition on a join
   * table (`links`), or the texts in which words are searched (`text`).
   */
  readonly kind: 'rows' | 'links' | 'text';
  /** The columns of the index that finds the matches, or the matches of each value, if they are read in its order. */
  readonly order: readonly string[] | undefined;
  /** Whether it is known, without counting, that few rows match. */
  readonly isSelective: boolean;
}

/** A walk, and how its rows can be found. */
export interface PlannedWalk {
  readonly walk: Walk;
  readonly indexUse: IndexUse;
}

/** Finds out how the indexes of a table serve a walk. The index of the order that begins with the most specific columns is used. */
export function indexUseOf({ source, filter, order }: Walk): IndexUse {
  const indexes = listIndexes[source.table];
  const conditions = conjunctsOf(filter);
  const parent = source.parent && 'column' in source.parent ? source.parent.column : undefined;
  const equalColumns = new Set(conditions.flatMap((condition) => equalColumn(condition) ?? []));
  const index = indexes
    ?.filter(({ columns }) => columns.at(-1) === order.column)
    .filter(({ columns }) =>
      columns.slice(0, -1).every((column) => column === parent || equalColumns.has(column)),
    )
    .toSorted((one, other) => rankOf(other, parent) - rankOf(one, parent))[0];
  const isJoined = source.parent !== undefined && 'through' in source.parent;
  const isOrderedByParent = !source.parent || (parent !== undefined && index?.columns[0] === parent);
  const isInRange = (condition: Predicate) =>
    isRangeOf(condition, order.column) ||
    (index?.columns.slice(0, -1).includes(equalColumn(condition) ?? '') ?? false);
  const rangeConditions = conditions.filter(isInRange);
  const rowConditions = conditions.filter((condition) => !isInRange(condition));
  const hasDeleted = index?.hasDeleted === true;
  const isInOrder = !indexes || (isOrderedByParent && rowConditions.length === 0 && !hasDeleted);
  const isServed = isInOrder || conditions.some(listsIds);
  const isServedForMany = source.parent ? isInOrder : isServed;
  return {
    isServed,
    isServedForMany,
    isOrderedByParent,
    rangeConditions: { all: rangeConditions },
    rowConditions: { all: rowConditions },
    hasDeleted,
    weight: 1 + relationsIn({ all: rowConditions }) + (isJoined ? rowsOfJoin : 0) + (hasDeleted ? 1 : 0),
    isJoined,
    candidates: isServedForMany || !indexes ? [] : candidatesOf(conditions, source.table, indexes),
  };
}

/** Whether one range of an index has exactly the rows of each page, for this many parents. */
export function servesParents({ isServed, isServedForMany }: IndexUse, parents: number): boolean {
  return parents > 1 ? isServedForMany : isServed;
}

/** How many rows of a join table are read for each row that a step examines. */
const rowsOfJoin = 2;

/**
 * Prefers an index that begins with the parent, whose ranges are the smallest, then one that begins with another fixed
 * column.
 */
function rankOf({ columns }: ListIndex, parent: string | undefined): number {
  if (columns.length === 1) return 0;
  return columns[0] === parent ? 2 : 1;
}

/** The number of conditions for which a row of another table has to be read. */
function relationsIn(condition: Predicate): number {
  if ('all' in condition) return condition.all.reduce((sum, part) => sum + relationsIn(part), 0);
  if ('any' in condition) return condition.any.reduce((sum, part) => sum + relationsIn(part), 0);
  if ('not' in condition) return relationsIn(condition.not);
  if ('references' in condition) return 1 + relationsIn(condition.where);
  if ('through' in condition)
    return readsCopy(condition.through, condition.where) ? 0 : 1 + relationsIn(condition.where);
  return 0;
}

function equalColumn(condition: Predicate): string | undefined {
  return 'is' in condition && condition.is === 'eq' ? condition.column : undefined;
}

/** Whether a condition is a range of an index on the column. */
function isRangeOf(condition: Predicate, column: string): boolean {
  if (!('column' in condition) || condition.column !== column) return false;
  return 'isNull' in condition || ('is' in condition && !isText(condition));
}

function isText(condition: Predicate): boolean {
  return 'is' in condition && (condition.is === 'contains' || condition.is === 'startsWith');
}

function isPrefix(condition: Predicate): boolean {
  return 'is' in condition && condition.is === 'startsWith';
}

/** Whether a condition lists the ids of the rows. */
function listsIds(condition: Predicate): boolean {
  if (!('column' in condition) || condition.column !== 'id') return false;
  return 'in' in condition || equalColumn(condition) !== undefined;
}

function candidatesOf(
  conditions: readonly Predicate[],
  table: TableName,
  indexes: readonly ListIndex[],
): Candidate[] {
  const groups = Map.groupBy(conditions, (condition) => groupOf(condition, table, indexes));
  return [...groups].flatMap(([group, chosen]): Candidate[] => {
    if (group === undefined) return [];
    const [first] = chosen;
    const kind = group === 'text' ? 'text' : first && 'through' in first ? 'links' : 'rows';
    return [
      {
        condition: kind === 'text' ? textLookup(chosen, table) : { all: chosen },
        rest: { all: conditions.filter((condition) => !chosen.includes(condition)) },
        kind,
        order:
          kind === 'rows' && (chosen.length === 1 || chosen.every((condition) => 'is' in condition))
            ? columnsOfIndexOn(first, indexes)
            : undefined,
        isSelective: chosen.some((condition) => matchesFewRows(condition, indexes)),
      },
    ];
  });
}

function matchesFewRows(condition: Predicate, indexes: readonly ListIndex[]): boolean {
  const isEqual = equalColumn(condition) !== undefined;
  if (!('column' in condition) || !(isEqual || 'in' in condition)) return false;
  return indexes.some(
    ({ columns, isSelective, isUnique }) =>
      columns[0] === condition.column && (isUnique || (isEqual && isSelective)),
  );
}

/** Conditions on a text, as a condition on the row of the table in which the text is looked up. */
function textLookup(conditions: readonly Predicate[], table: TableName): Predicate {
  const texts = textTables[table];
  if (!texts) throw new Error(`No table has the texts of ${table}.`);
  return { column: 'id', references: texts.table, by: texts.key, where: { all: conditions } };
}

function columnsOfIndexOn(
  condition: Predicate | undefined,
  indexes: readonly ListIndex[],
): readonly string[] | undefined {
  if (!condition || !('column' in condition)) return undefined;
  return indexes.find(({ columns }) => columns[0] === condition.column)?.columns;
}

/** The group of a condition. One range of an index satisfies all conditions of a group; undefined if no index can. */
function groupOf(condition: Predicate, table: TableName, indexes: readonly ListIndex[]): string | undefined {
  if ('through' in condition) {
    const { table: joined, parent, child } = condition.through;
    const index = joinIndexes[joined];
    return index?.child === child && index.parent === parent
      ? `links ${JSON.stringify(condition)}`
      : undefined;
  }
  if (!('column' in condition) || 'isNull' in condition) return undefined;
  // The condition on the referenced table may match many rows, and the keys of all of them would have to be read.
  if ('references' in condition && listIndexes[condition.references]) {
    if (!conjunctsOf(condition.where).some(listsIds)) return undefined;
  }
  const { column } = condition;
  // `withPrefixRanges` has added a range for `startsWith` if an index has the column.
  if (isPrefix(condition)) return undefined;
  if (isText(condition)) return textTables[table]?.column === column ? 'text' : undefined;
  return indexes.some(({ columns }) => columns[0] === column) ? `rows ${column}` : undefined;
}
