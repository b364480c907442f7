import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Candidate } from './access.ts';
import { type AnyRow, type AnyTables, untyped } from './any-tables.ts';
import { type AccessedWalk, lookedAt } from './bounded-page.ts';
import { matchesOf } from './matches.ts';
import type { Reading } from './page.ts';
import { matchingLinks, type Predicate, referredKeys, sqlValue } from './predicate.ts';
import { Slot } from './slots.ts';
import { row } from './walk.ts';

/** A condition whose matches are counted, up to one more than a maximum. */
export interface Probed {
  readonly candidate: Candidate;
  readonly most: number;
}

type Query = SelectQueryBuilder<AnyTables, never, AnyRow>;

/**
 * Counts the rows that match each of the candidates. `sample` is the number of rows that are looked at to find out whether the words
 * of a text are common.
 */
export function probeQuery(
  reading: Reading,
  walked: AccessedWalk,
  probed: readonly Probed[],
  sample: number,
): Query {
  const counts = probed.map(({ candidate, most }, index) => {
    const count = countUpTo(reading, walked, { candidate, most });
    const words = candidate.kind === 'text' ? wordsOf(candidate.condition) : [];
    if (words.length === 0) return count.as(`count${index}`);
    // The index of words finds the rows that have all parts of a text anywhere, and each of them is read. A case takes only one way.
    const common = countCommon(reading, walked, words, sample);
    const isRare = sql<SqlBool>`${common} * ${sql.lit(commonness)} <= ${sql.lit(sample)}`;
    return sql<number>`case when ${isRare} then ${count} else ${sql.lit(most + 1)} end`.as(`count${index}`);
  });
  return untyped(reading.db).selectNoFrom(counts);
}

/** A text is common if one of so many rows has its words. */
const commonness = 100;

function countUpTo(reading: Reading, { walk }: AccessedWalk, { candidate, most }: Probed) {
  const { condition } = candidate;
  const link = linkIn(condition);
  // The rows of another table are counted there: each of the rows that they lead to would have to be read.
  const found = link
    ? matchingLinks(link, row)
    : candidate.kind === 'text' && 'references' in condition
      ? referredKeys(condition, row).clearSelect()
      : matchesOf(reading, walk.source, candidate, most + 1);
  const matching = found.select(sql.lit(1).as('found')).limit(sql.lit(most + 1));
  return sql<number>`(${untyped(reading.db)
    .selectFrom(matching.as('matching'))
    .select(sql<number>`count(*)::int`.as('count'))})`;
}

function linkIn(condition: Predicate): Extract<Predicate, { through: unknown }> | undefined {
  if ('through' in condition) return condition;
  return 'all' in condition && condition.all.length === 1 && condition.all[0]
    ? linkIn(condition.all[0])
    : undefined;
}

/** The number of rows among the first ones of the walk that have all the words. */
function countCommon(
  reading: Reading,
  walked: AccessedWalk,
  words: readonly RawBuilder<SqlBool>[],
  sample: number,
) {
  const looked = lookedAt(reading, walked, sample, (query) => query.selectAll(row));
  const common = words.reduce(
    (query, condition) => query.where(condition),
    untyped(reading.db).selectFrom(looked.as(row)),
  );
  return sql<number>`(${common.select(sql<number>`count(*)::int`.as('count'))})`;
}

/** For each text that rows must contain: whether a row contains all its words, wherever they are. */
function wordsOf(condition: Predicate): RawBuilder<SqlBool>[] {
  if ('all' in condition) return condition.all.flatMap(wordsOf);
  if ('references' in condition) return wordsOf(condition.where);
  if (!('is' in condition) || condition.is !== 'contains') return [];
  const { column, value } = condition;
  const pattern = value instanceof Slot ? value : sqlValue('contains', value);
  return [
    sql<SqlBool>`${sql.ref(`${row}.${column}`)} like all (array(select '%' || word || '%'
      from regexp_split_to_table(${pattern}::text, '[^[:alnum:]]+') as word where word <> ''))`,
  ];
}
