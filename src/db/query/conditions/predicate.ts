import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { subquery, subqueryWith } from '../any-tables.ts';
import { type ValueOrSlot, Slot } from '../../statements/slots.ts';
import type { TableName } from '../../tables/tables.ts';

/**
 * The operators of comparisons. `contains` and `startsWith` take their value literally: `%` and `_` have no special
 * meaning.
 */
export type Comparison = 'eq' | 'lt' | 'lte' | 'gt' | 'gte' | 'contains' | 'startsWith';
export type Comparable = string | number | boolean | Date;

/**
 * A condition on the rows of a table, as data. Filters of GraphQL and REST become predicates, which then become SQL or
 * are evaluated in memory. `among` replaces `references` if the keys are already known: an array of UUIDs as bytes
 * (`UuidArray`).
 */
export type Predicate =
  | { all: readonly Predicate[] }
  | { any: readonly Predicate[] }
  | { not: Predicate }
  | { column: string; is: Comparison; value: ValueOrSlot<Comparable> }
  | { column: string; in: ValueOrSlot<readonly Comparable[]> }
  | { column: string; isNull: boolean }
  | { column: string; references: TableName; by: string; where: Predicate }
  | { column: string; among: ValueOrSlot<Buffer>; many: boolean }
  | { through: Through; own: string; where: Predicate }
  | { lineage: Lineage };

/** The row of `table` with the id `root` and all its descendants. The column `parent` has the id of a row's parent. */
interface Lineage {
  table: TableName;
  parent: string;
  root: string;
}

/**
 * A relation through a join table: its column `parent` has a value of the row, its column `child` a value of
 * `target`.`by`.
 */
export interface Through {
  table: TableName;
  parent: string;
  child: string;
  target: TableName;
  by: string;
  /**
   * The column of the parent with a copy of the keys as an array, in the order of the join table if it has one. The
   * column is null in rows without a copy.
   */
  stored?: string;
}

export const always: Predicate = { all: [] };

/** Whether a predicate matches every row. */
export function isAlways(predicate: Predicate): boolean {
  return 'all' in predicate && predicate.all.every(isAlways);
}

/** The conditions of a predicate that must all be true. */
export function conjunctsOf(predicate: Predicate): readonly Predicate[] {
  return 'all' in predicate ? predicate.all.flatMap(conjunctsOf) : [predicate];
}

/** The alias of a row that a predicate is about. Those of related rows have the next numbers. */
type RowAlias = `r${number}`;

/**
 * How conditions on related rows are evaluated: `planned`, as the planner decides; `eachRow`, for each row that another
 * condition has found; `fromRelated`, starting with the related rows, from which an index leads to the matching rows.
 */
type Evaluation = 'planned' | 'eachRow' | 'fromRelated';

/**
 * The predicate as SQL for the row `alias`. A negation is never null: a row whose column is null matches the `not` of a
 * comparison.
 */
export function predicateSql(
  predicate: Predicate,
  alias: RowAlias,
  evaluation: Evaluation = 'planned',
): Expression<SqlBool> {
  if ('all' in predicate) return combinationSql(predicate.all, ' and ', true, { alias, evaluation });
  if ('any' in predicate) return combinationSql(predicate.any, ' or ', false, { alias, evaluation });
  if ('not' in predicate) return notSql(predicate.not, alias, evaluation);
  if ('through' in predicate) return throughSql(predicate, alias, evaluation);
  if ('lineage' in predicate) return lineageSql(predicate.lineage, alias);
  const column = sql.ref(`${alias}.${predicate.column}`);
  if ('isNull' in predicate)
    return predicate.isNull ? sql<SqlBool>`${column} is null` : sql<SqlBool>`${column} is not null`;
  if ('in' in predicate) return sql<SqlBool>`${column} = any(${predicate.in})`;
  if ('among' in predicate) return amongSql(column, predicate, evaluation);
  if ('references' in predicate) return referenceSql(predicate, column, { alias, evaluation });
  return comparisonSql(column, predicate.is, predicate.value);
}

function notSql(predicate: Predicate, alias: RowAlias, evaluation: Evaluation): RawBuilder<SqlBool> {
  // An index cannot find rows without a related row, so each row is checked, by its copy of the keys if it has one.
  const negated =
    ('through' in predicate && storedSql(predicate, alias)) ||
    predicateSql(predicate, alias, evaluation === 'fromRelated' ? 'eachRow' : evaluation);
  return sql<SqlBool>`(${negated}) is not true`;
}

/** Whether a row's copy of the keys suffices to decide the condition. */
export function readsCopy({ stored }: Through, where: Predicate): boolean {
  return stored !== undefined && (isAlways(where) || ('among' in where && !where.many));
}

/** The condition as a test of the row's copy of the keys; undefined if the copy does not suffice. */
function storedSql(
  { through, own, where }: { through: Through; own: string; where: Predicate },
  alias: RowAlias,
): RawBuilder<SqlBool> | undefined {
  if (through.stored === undefined || !readsCopy(through, where)) return undefined;
  const stored = sql.ref(`${alias}.${through.stored}`);
  const keys = 'among' in where ? where : undefined;
  const overlaps = keys ? sql`${stored} && ${keys.among}::uuid[]` : sql`${stored} <> '{}'`;
  const links = linksOf({ through, own }, alias);
  const matching = keys
    ? links.where(amongSql(sql.ref(`${nextAlias(alias)}.${through.child}`), keys, 'eachRow'))
    : links;
  // `offset 0` keeps the planner from reading all links at once for the few rows without a copy.
  return sql<SqlBool>`case when ${stored} is null then exists (${matching.offset(sql.lit(0))}) else ${overlaps} end`;
}

/** The row that a condition is about, and how the condition is evaluated. */
interface ConditionContext {
  readonly alias: RowAlias;
  readonly evaluation: Evaluation;
}

function combinationSql(
  parts: readonly Predicate[],
  operator: ' and ' | ' or ',
  whenEmpty: boolean,
  { alias, evaluation }: ConditionContext,
): RawBuilder<SqlBool> {
  if (parts.length === 0) return sql<SqlBool>`${sql.lit(whenEmpty)}`;
  return sql<SqlBool>`(${sql.join(
    parts.map((part) => predicateSql(part, alias, evaluation)),
    sql.raw(operator),
  )})`;
}

const operators: Readonly<Record<Comparison, string>> = {
  eq: '=',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  contains: 'like',
  startsWith: 'like',
};

function comparisonSql(
  column: RawBuilder<unknown>,
  is: Comparison,
  value: ValueOrSlot<Comparable>,
): RawBuilder<SqlBool> {
  return sql<SqlBool>`${column} ${sql.raw(operators[is])} ${value instanceof Slot ? value : sqlValue(is, value)}`;
}

/** The operand of a comparison: the value itself, or a pattern of `like`. */
export function sqlValue(is: Comparison, value: Comparable): Comparable {
  if (is === 'contains') return `%${literal(value)}%`;
  return is === 'startsWith' ? `${literal(value)}%` : value;
}

function literal(value: Comparable): string {
  return String(value).replace(/[\\%_]/g, (character) => `\\${character}`);
}

/** The alias of a related row: the next number, so that a table can refer to itself (the parent of an issue's parent). */
function nextAlias(alias: RowAlias): RowAlias {
  return `r${Number(alias.slice(1)) + 1}`;
}

function referenceSql(
  { references, by, where }: { references: TableName; by: string; where: Predicate },
  column: RawBuilder<unknown>,
  { alias, evaluation }: ConditionContext,
): RawBuilder<SqlBool> {
  const target = nextAlias(alias);
  if (evaluation === 'planned')
    return sql<SqlBool>`${column} in (${selectKeys(references, target, by, where)})`;
  if (evaluation === 'fromRelated')
    return sql<SqlBool>`${column} = any(array(${selectKeys(references, target, by, where)}))`;
  const referencedRows = subquery()
    .selectFrom(`${references} as ${target}`)
    .select(sql.lit(1).as('found'))
    .where(sql<SqlBool>`${sql.ref(`${target}.${by}`)} = ${column}`)
    .where(predicateSql(where, target, 'eachRow'));
  // `offset 0` keeps the planner from reading the whole referenced table at once.
  return sql<SqlBool>`exists (${referencedRows.offset(sql.lit(0))})`;
}

/**
 * For few keys, the planner may use an index. Many keys are hashed once for the whole statement: `is true` keeps the
 * planner from turning them into a join, which would be repeated for each parent, and which it considers cheap if it
 * has no good statistics.
 */
function amongSql(
  column: RawBuilder<unknown>,
  { among, many }: Extract<Predicate, { among: unknown }>,
  evaluation: Evaluation,
): RawBuilder<SqlBool> {
  const keys = sql`${among}::uuid[]`;
  return many && evaluation !== 'fromRelated'
    ? sql<SqlBool>`(${column} in (select unnest(${keys}))) is true`
    : sql<SqlBool>`${column} = any(${keys})`;
}

function throughSql(
  { through, own, where }: { through: Through; own: string; where: Predicate },
  alias: RowAlias,
  evaluation: Evaluation,
): RawBuilder<SqlBool> {
  const stored = evaluation === 'eachRow' ? storedSql({ through, own, where }, alias) : undefined;
  if (stored) return stored;
  if (evaluation === 'fromRelated') {
    const keys = matchingLinks({ through, where }, alias).select(`${nextAlias(alias)}.${through.parent}`);
    return sql<SqlBool>`${sql.ref(`${alias}.${own}`)} = any(array(${keys}))`;
  }
  const links = linksOf({ through, own }, alias).where(
    isMatchingLink({ through, where }, nextAlias(alias), evaluation),
  );
  return sql<SqlBool>`exists (${evaluation === 'eachRow' ? links.offset(sql.lit(0)) : links})`;
}

/** The rows of a join table that lead to a matching row, whichever row of the list they belong to. */
export function matchingLinks({ through, where }: { through: Through; where: Predicate }, alias: RowAlias) {
  const link = nextAlias(alias);
  return subquery()
    .selectFrom(`${through.table} as ${link}`)
    .where(isMatchingLink({ through, where }, link, 'fromRelated'));
}

function isMatchingLink(
  { through, where }: { through: Through; where: Predicate },
  link: RowAlias,
  evaluation: Evaluation,
): RawBuilder<SqlBool> {
  const child = sql.ref(`${link}.${through.child}`);
  return 'among' in where
    ? amongSql(child, where, evaluation)
    : sql<SqlBool>`${child} in (${selectKeys(through.target, nextAlias(link), through.by, where)})`;
}

/** The keys of the matching rows in the referenced table, whether rows of the list refer to them or not. */
export function referencedKeys(
  { references, by, where }: { references: TableName; by: string; where: Predicate },
  alias: RowAlias,
) {
  return selectKeys(references, nextAlias(alias), by, where);
}

/** The rows of the join table that belong to the row `alias`. */
function linksOf({ through, own }: { through: Through; own: string }, alias: RowAlias) {
  const link = nextAlias(alias);
  return subquery()
    .selectFrom(`${through.table} as ${link}`)
    .select(sql.lit(1).as('found'))
    .whereRef(`${link}.${through.parent}`, '=', `${alias}.${own}`);
}

function lineageSql({ table, parent, root }: Lineage, alias: RowAlias): RawBuilder<SqlBool> {
  const ids = subqueryWith()
    .withRecursive('lineage', (creator) =>
      creator
        .selectFrom(table)
        .select('id')
        .where('id', '=', root)
        .union((eb) =>
          eb
            .selectFrom(`${table} as child`)
            .innerJoin('lineage', `child.${parent}`, 'lineage.id')
            .select('child.id'),
        ),
    )
    .selectFrom('lineage')
    .select('lineage.id');
  return sql<SqlBool>`${sql.ref(`${alias}.id`)} in (${ids})`;
}

function selectKeys(table: TableName, alias: RowAlias, by: string, where: Predicate) {
  return matchingRows(table, alias, where).select(`${alias}.${by}`);
}

function matchingRows(table: TableName, alias: RowAlias, where: Predicate) {
  return subquery().selectFrom(`${table} as ${alias}`).where(predicateSql(where, alias));
}
