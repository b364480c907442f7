import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/db/engine/engine.ts';
import { joinIndexes, listIndexes, textTables } from '../../src/db/tables/list-indexes.ts';
import { copyTemplate } from '../support/templates.ts';
import { sql } from 'kysely';

let database: Database;
let drop: () => Promise<void>;
/** An index of the database. */
interface FoundIndex {
  /** Its method and its columns. */
  definition: string;
  isUnique: boolean;
  /** The conditions of the rows that it contains. */
  conditions: string[];
}

/** All indexes of the database by table. */
let indexes: Map<string, FoundIndex[]>;
/** The tables that keep deleted rows. */
let keepingDeleted: Set<string>;
beforeAll(async () => {
  ({ database, drop } = await copyTemplate('migrated'));
  const { rows } = await sql<{ tableName: string; definition: string }>`
    select tablename as "tableName", indexdef as definition from pg_indexes where schemaname = 'public'`.execute(
    database.unscoped,
  );
  indexes = new Map(
    [...Map.groupBy(rows, ({ tableName }) => tableName)].map(([table, of]) => [
      table,
      of.map(({ definition }) => readIndex(definition)),
    ]),
  );
  const deleted = await sql<{ tableName: string }>`
    select table_name as "tableName" from information_schema.columns
    where table_schema = 'public' and column_name = 'deleted_utc'`.execute(database.unscoped);
  keepingDeleted = new Set(deleted.rows.map(({ tableName }) => tableName));
});
afterAll(() => drop());

const declared = Object.entries(listIndexes).flatMap(([table, of]) =>
  of.map((index) => ({ table, index, columns: index.columns.join(', ') })),
);

it.each(declared)('the database has an index of $table on $columns', ({ table, index }) => {
  const columns = index.columns.map(inSql).join(', ');
  const having = indexes.get(inSql(table)) ?? [];
  const definition = `btree: workspace_id, ${columns}`;
  const found = having.filter(
    (each) => each.definition === definition || each.definition === `${definition}, id`,
  );
  // An index that finds at most one row need not say that the row may be deleted.
  const declaration = { hasDeleted: index.hasDeleted ?? false, isUnique: index.isUnique ?? false };
  expect(
    found.map(({ definition: foundDefinition, isUnique, conditions }) => ({
      hasDeleted:
        keepingDeleted.has(inSql(table)) &&
        index.isUnique !== true &&
        !conditions.includes('deleted_utc IS NULL'),
      isUnique: isUnique && foundDefinition === definition && index.columns.length === 1,
    })),
  ).toContainEqual(declaration);
});

it.each(Object.entries(textTables))(
  'finds an index of the words of %s in the database',
  (_, { column, table }) => {
    expect(formsOf(table)).toContain(`gin: workspace_id, ${inSql(column)}`);
  },
);

it.each(Object.entries(joinIndexes))('the database has the index of %s', (table, { child, parent }) => {
  expect(formsOf(table)).toContain(`btree: workspace_id, ${inSql(child)}, ${inSql(parent)}`);
});

function formsOf(table: string): string[] {
  return (indexes.get(inSql(table)) ?? []).map(({ definition }) => definition);
}

function readIndex(definition: string): FoundIndex {
  const [, unique, method, columns = '', conditions = ''] =
    /^create (unique )?index .* using (\w+) \(([^)]*)\)(?: include \([^)]*\))?(?: where (.*))?$/i.exec(
      definition,
    ) ?? [];
  return {
    definition: `${method}: ${columns.replaceAll(' gin_trgm_ops', '')}`,
    isUnique: unique !== undefined,
    conditions: conditions.split(' AND ').map((condition) => condition.replaceAll(/[()]/g, '')),
  };
}

function inSql(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
