import type pg from 'pg';
import type { FilterField, FilterFields } from '../../src/resolvers/filters.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { inSql } from '../../src/db/tables/sql-names.ts';

/** A filter of a list, and a name that says which of them it is. */
export interface NamedFilter {
  readonly name: string;
  readonly filter: Readonly<Record<string, unknown>>;
}

/** What the shapes need to know about an input type: the names of its comparators, and the values of an enum. */
export interface InputFacts {
  comparators(field: string): readonly string[];
  enumValues(field: string): readonly string[] | undefined;
  /** The GraphQL type of the compared values, such as `DateTime`. */
  valueType(field: string): string;
}

/**
 * Filters for every field and every comparator of a list of a table, with values from its data: frequent ones, rare ones, and ones
 * between. Throws for a field without values, so that a new one cannot be forgotten.
 */
export async function filtersOf(
  client: pg.Client,
  table: string,
  fields: FilterFields,
  facts: InputFacts,
): Promise<NamedFilter[]> {
  const filters: NamedFilter[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const made = await filtersOfField(client, inSql(table), name, field, facts);
    if (made.length === 0) throw new Error(`The filter field ${table}.${name} has no values in the data.`);
    filters.push(...made);
  }
  return filters;
}

async function filtersOfField(
  client: pg.Client,
  table: string,
  name: string,
  field: FilterField,
  facts: InputFacts,
): Promise<NamedFilter[]> {
  if (field.kind === 'reference') {
    const keys = await keysBySize(client, table, inSql(field.column));
    const related = keyFilter(field.target.filter(), field.target.by, keys);
    return [
      ...related.map(({ name: value, filter }) => ({ name: `${name} ${value}`, filter: { [name]: filter } })),
      { name: `${name} any`, filter: { [name]: {} } },
      ...(inSql(field.target.table) === table
        ? [{ name: `${name} of ${name}`, filter: { [name]: { [name]: {} } } }]
        : []),
    ];
  }
  if (field.kind === 'through') {
    const keys = await keysBySize(client, inSql(field.through.table), inSql(field.through.child));
    const related = keyFilter(field.target.filter(), field.target.by, keys);
    return [
      ...related.map(({ name: value, filter }) => ({
        name: `${name} some ${value}`,
        filter: { [name]: { some: filter } },
      })),
      ...related
        .slice(0, 1)
        .map(({ filter }) => ({ name: `${name} none`, filter: { [name]: { none: filter } } })),
      { name: `${name} none of any`, filter: { [name]: { none: {} } } },
    ];
  }
  const values = await valuesOf(client, table, name, field, facts);
  const one = (comparator: string, value: unknown, label: string): NamedFilter => ({
    name: `${name} ${comparator} ${label}`,
    filter: { [name]: { [comparator]: value } },
  });
  return facts.comparators(name).flatMap((comparator): NamedFilter[] => {
    const { frequent, ranked, texts } = values;
    switch (comparator) {
      case 'isNull':
        return [one(comparator, true, 'true'), one(comparator, false, 'false')];
      case 'in':
      case 'nin':
        return frequent.length === 0
          ? []
          : [one(comparator, [...new Set([frequent[0]?.value, frequent.at(-1)?.value])], 'two')];
      case 'eq':
      case 'neq':
        return frequent.map(({ value, label }) => one(comparator, value, label));
      case 'contains':
      case 'startsWith':
        return texts.map(({ value, label }) => one(comparator, value, label));
      case 'lt':
      case 'lte':
        return ranked.map(({ value, label }) => one(comparator, value, label));
      case 'gt':
      case 'gte':
        return ranked.map(({ value, label }) => one(comparator, value, label));
      default:
        throw new Error(`The comparator ${comparator} of ${name} is new: say here which values it has.`);
    }
  });
}

interface LabelledValue<Value = unknown> {
  readonly value: Value;
  readonly label: string;
}

/** The values of a column by what comparators need. */
interface Values {
  /** A frequent, a middling and a rare value. */
  readonly frequent: readonly LabelledValue[];
  /** Values at the ends of the range and in it. */
  readonly ranked: readonly LabelledValue[];
  readonly texts: readonly LabelledValue<string>[];
}

async function valuesOf(
  client: pg.Client,
  table: string,
  name: string,
  field: FilterField & { column: string },
  facts: InputFacts,
): Promise<Values> {
  const column = inSql(field.column);
  const enumValues = facts.enumValues(name);
  if (enumValues) {
    return { frequent: enumValues.map((value) => ({ value, label: value })), ranked: [], texts: [] };
  }
  if (field.kind === 'id') {
    const keys = await keysBySize(client, table, column);
    const frequent = keys.map(({ value, label }) => ({ value: encodeId(field.prefix, value), label }));
    return { frequent, ranked: [], texts: [] };
  }
  const type = facts.valueType(name);
  const written =
    type === 'DateTime' ? `to_char(v at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : 'v::text';
  const { rows: counted } = await client.query<{ v: string }>(`
    with counts as (select ${column} as v, count(*) as n from ${table} where ${column} is not null group by 1)
    select ${written} as v from (select v, row_number() over (order by n desc, v) as nth, count(*) over () as c from counts) r
    where nth in (1, (c + 1) / 2, c) order by nth`);
  const { rows: ranks } = await client.query<{ v: string }>(`
    select ${written} as v from (select unnest(percentile_disc(array[0.001, 0.03, 0.5, 0.97, 0.999])
      within group (order by ${column})) as v from ${table}) p`);
  const typed = (text: string) => (type === 'Int' ? Number(text) : text);
  const labels = ['frequent', 'middling', 'rare'];
  const texts =
    type === 'String'
      ? [
          { value: 'the', label: 'common' },
          { value: 'reviewer noticed', label: 'phrase' },
          { value: String(counted[0]?.v).slice(0, 4), label: 'beginning' },
          { value: String(counted.at(-1)?.v).slice(0, 30), label: 'rare' },
          { value: 'no such thing', label: 'nothing' },
        ]
      : [];
  return {
    frequent: counted.map(({ v }, index) => ({ value: typed(v), label: labels[index] ?? '' })),
    ranked: ranks.map(({ v }, index) => ({
      value: typed(v),
      label: `at ${['0.1', '3', '50', '97', '99.9'][index]} %`,
    })),
    texts,
  };
}

/** Keys that a column refers to: with the most rows, in the middle, and with the fewest. */
async function keysBySize(
  client: pg.Client,
  table: string,
  column: string,
): Promise<LabelledValue<string>[]> {
  const { rows } = await client.query<{ key: string; n: string }>(`
    with counts as (select ${column} as key, count(*) as n from ${table} where ${column} is not null group by 1)
    select key, n from (select key, n, row_number() over (order by n desc, key) as nth, count(*) over () as c from counts) r
    where nth in (1, 2 + c / 20, (c + 1) / 2, c) order by nth`);
  return rows.map(({ key, n }) => ({ value: key, label: `with ${n}` }));
}

/** Filters by the id of related rows. */
function keyFilter(fields: FilterFields, by: string, keys: readonly LabelledValue<string>[]): NamedFilter[] {
  const [name, field] =
    Object.entries(fields).find(([, each]) => each.kind === 'id' && each.column === by) ?? [];
  if (name === undefined || field?.kind !== 'id') throw new Error(`No filter names rows by ${by}.`);
  return keys.map(({ value, label }) => ({
    name: label,
    filter: { [name]: { eq: encodeId(field.prefix, value) } },
  }));
}
