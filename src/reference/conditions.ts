import { decodeText } from '../db/wire/decoded-types.ts';
import type { Comparable, Predicate } from '../db/query/conditions/predicate.ts';
import { uuidArrayBytes } from '../db/wire/uuid-bytes.ts';
import type { CachedRow, CachedTable } from './cached-table.ts';
import { type ComparedColumn, numericKey, rowTest, type RowTest } from './row-test.ts';
import type { Snapshot } from './snapshot.ts';

const uuidType = 2950;
const textType = 25;
const dateType = 1082;

/**
 * The predicate as a function of a cached row, which returns whether SQL would find the row. Undefined when only SQL
 * can decide: for other tables, and for the order of texts, which depends on their collation.
 */
export function testOf(
  predicate: Predicate,
  table: CachedTable,
  snapshot: Snapshot,
): RowTest<CachedRow> | undefined {
  return rowTest(predicate, {
    column: (name) => comparedColumn(table, name),
    related(condition) {
      if ('through' in condition) return throughTest(condition, table, snapshot);
      const position = table.columnIndex(condition.column);
      const keys = position < 0 ? undefined : keysWhere(condition, snapshot);
      return keys && ((row) => keys.has(row[position] ?? ''));
    },
  });
}

function comparedColumn(table: CachedTable, name: string): ComparedColumn<CachedRow> | undefined {
  const position = table.columnIndex(name);
  if (position < 0) return undefined;
  const type = table.types[position] ?? 0;
  const read = (row: CachedRow) => row[position] ?? null;
  const key = (value: Comparable) => (typeof value === 'string' ? value : undefined);
  switch (type) {
    case textType:
      return { comparisons: 'parts', read, key };
    case uuidType:
      return { comparisons: 'equality', read, key: (value) => key(value)?.toLowerCase() };
    case dateType:
      return { comparisons: 'order', read, key };
    default:
      return {
        comparisons: 'order',
        read(row) {
          const text = row[position] ?? null;
          return text === null ? null : (numericKey(decodeText(type, text)) ?? text);
        },
        key: numericKey,
      };
  }
}

/** In larger tables SQL finds rows faster. */
const maxRows = 1_000;
/** With more keys than this, PostgreSQL does not use an index. */
const fewKeys = 8;

/**
 * Replaces conditions on cached rows by the keys of the rows that satisfy them, so that SQL need not find those rows.
 * Returns the same object if there are no such conditions. Without `takesMany`, more than a few keys are not used.
 * Conditions on related rows are replaced without it, because PostgreSQL decides better itself whether to begin with
 * the other table.
 */
export function withKeys(predicate: Predicate, snapshot: Snapshot, takesMany = true): Predicate {
  const partsOf = (parts: readonly Predicate[]) => {
    const replaced = parts.map((part) => withKeys(part, snapshot, takesMany));
    return replaced.every((part, index) => part === parts[index]) ? undefined : replaced;
  };
  if ('all' in predicate) {
    const all = partsOf(predicate.all);
    return all ? { all } : predicate;
  }
  if ('any' in predicate) {
    const any = partsOf(predicate.any);
    return any ? { any } : predicate;
  }
  if ('not' in predicate) {
    const not = withKeys(predicate.not, snapshot, takesMany);
    return not === predicate.not ? predicate : { not };
  }
  if (!('where' in predicate)) return predicate;
  if ('references' in predicate) {
    const keys = amongKeys(predicate, snapshot, takesMany);
    // With a single key, an index on this column and the column of the order has the rows in the order of the list.
    const [only, ...others] = keys?.keys ?? [];
    if (keys && only !== undefined && others.length === 0)
      return { column: predicate.column, is: 'eq', value: only };
    if (keys) return { column: predicate.column, among: uuidArrayBytes(keys.keys), many: keys.many };
  } else {
    const { child: column, target: references, by } = predicate.through;
    const keys = amongKeys({ references, by, where: predicate.where }, snapshot, false);
    if (keys) {
      const where = { column, among: uuidArrayBytes(keys.keys), many: keys.many };
      return { ...predicate, where };
    }
  }
  const where = withKeys(predicate.where, snapshot, false);
  return where === predicate.where ? predicate : { ...predicate, where };
}

function amongKeys(
  target: { references: string; by: string; where: Predicate },
  snapshot: Snapshot,
  takesMany: boolean,
): { keys: ReadonlySet<string>; many: boolean } | undefined {
  const table = snapshot.table(target.references);
  if (!table || table.rows.length > maxRows || table.types[table.columnIndex(target.by)] !== uuidType)
    return undefined;
  const keys = keysWhere(target, snapshot);
  if (!keys) return undefined;
  const many = keys.size > fewKeys;
  return many && !takesMany ? undefined : { keys, many };
}

function throughTest(
  { through, own, where }: Extract<Predicate, { through: unknown }>,
  table: CachedTable,
  snapshot: Snapshot,
): RowTest<CachedRow> | undefined {
  const linkTable = snapshot.table(through.table);
  const targets = keysWhere({ references: through.target, by: through.by, where }, snapshot);
  const position = table.columnIndex(own);
  if (!linkTable || !targets || position < 0) return undefined;
  const child = linkTable.columnIndex(through.child);
  return (row) =>
    linkTable.by(through.parent, row[position] ?? '').some((link) => targets.has(link[child] ?? ''));
}

/** The values of a column in the cached rows that satisfy the predicate. */
function keysWhere(
  { references, by, where }: { references: string; by: string; where: Predicate },
  snapshot: Snapshot,
): ReadonlySet<string> | undefined {
  const target = snapshot.table(references);
  const test = target && testOf(where, target, snapshot);
  if (!target || !test) return undefined;
  const position = target.columnIndex(by);
  return new Set(target.rows.filter(test).map((row) => row[position] ?? ''));
}
