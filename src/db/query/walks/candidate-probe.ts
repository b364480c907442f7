import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { PlannedWalk, Candidate } from './index-use.ts';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import type { QueryBase } from '../query-base.ts';
import { matchesOf } from './matches.ts';
import { matchingLinks, type Predicate, referencedKeys, sqlValue } from '../conditions/predicate.ts';
import { Slot } from '../../statements/slots.ts';
import { row } from './walk.ts';

/** A condition whose matches are counted, up to one more than a maximum. */
export interface ProbedCandidate {
  readonly candidate: Candidate;
  readonly max: number;
}

type Query = SelectQueryBuilder<AnyTables, never, AnyRow>;

/**
 * Counts the rows that match each of the candidates. `sample` is the number of texts in which it checks whether the
 * words of a searched text are common.
 */
export function probeQuery(
  base: QueryBase,
  planned: PlannedWalk,
  probed: readonly ProbedCandidate[],
  sample: number,
): Query {
  const counts = probed.map(({ candidate, max }, index) => {
    const count = countUpTo(base, planned, { candidate, max });
    const texts = textsIn(candidate);
    const words = texts ? wordsOf(texts.where) : [];
    if (!texts || words.length === 0) return count.as(`count${index}`);
    // The index of words finds the rows that contain all words in any order, and each of them is read, which is avoided
    // for common words.
    const common = countCommon(base, texts, words, sample);
    const isRare = sql<SqlBool>`${common} * ${sql.lit(commonness)} <= ${sql.lit(sample)}`;
    return sql<number>`case when ${isRare} then ${count} else ${sql.lit(max + 1)} end`.as(`count${index}`);
  });
  return untyped(base.db).selectNoFrom(counts);
}

/** A searched text is common if more than one in this many of the sampled texts contains all its words. */
const commonness = 100;

function countUpTo(base: QueryBase, { walk }: PlannedWalk, { candidate, max }: ProbedCandidate) {
  const { condition } = candidate;
  const link = linkIn(condition);
  const texts = textsIn(candidate);
  // Matches in another table are counted there, without reading the rows of the list that belong to them.
  const found = link
    ? matchingLinks(link, row)
    : texts
      ? referencedKeys(texts, row).clearSelect()
      : matchesOf(base, walk.source, candidate, max + 1);
  const matching = found.select(sql.lit(1).as('found')).limit(sql.lit(max + 1));
  return sql<number>`(${untyped(base.db)
    .selectFrom(matching.as('matching'))
    .select(sql<number>`count(*)::int`.as('count'))})`;
}

type Texts = Extract<Predicate, { references: unknown }>;

function textsIn({ kind, condition }: Candidate): Texts | undefined {
  return kind === 'text' && 'references' in condition ? condition : undefined;
}

function linkIn(condition: Predicate): Extract<Predicate, { through: unknown }> | undefined {
  if ('through' in condition) return condition;
  return 'all' in condition && condition.all.length === 1 && condition.all[0]
    ? linkIn(condition.all[0])
    : undefined;
}

/**
 * How many of the newest texts contain all the words. The first texts of the walk would not be a fair sample: in the
 * order of the texts they all begin alike.
 */
function countCommon(
  { db }: QueryBase,
  { references, by }: Texts,
  words: readonly RawBuilder<SqlBool>[],
  sample: number,
) {
  const newest = untyped(db)
    .selectFrom(`${references} as ${row}`)
    .selectAll(row)
    .orderBy(`${row}.${by}`, 'desc')
    .limit(sql.lit(sample));
  const common = words.reduce(
    (query, condition) => query.where(condition),
    untyped(db).selectFrom(newest.as(row)),
  );
  return sql<number>`(${common.select(sql<number>`count(*)::int`.as('count'))})`;
}

/** A condition for each text that rows must contain: that a row contains all its words, in any order. */
function wordsOf(condition: Predicate): RawBuilder<SqlBool>[] {
  if ('all' in condition) return condition.all.flatMap(wordsOf);
  if (!('is' in condition) || condition.is !== 'contains') return [];
  const { column, value } = condition;
  const pattern = value instanceof Slot ? value : sqlValue('contains', value);
  return [
    sql<SqlBool>`${sql.ref(`${row}.${column}`)} like all (array(select '%' || word || '%'
      from regexp_split_to_table(${pattern}::text, '[^[:alnum:]]+') as word where word <> ''))`,
  ];
}
