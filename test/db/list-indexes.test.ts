import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../../src/db/engine/engine.ts';
import { joinIndexes, listIndexes, textTables } from '../../src/db/tables/list-indexes.ts';
import { copyTemplate } from '../support/templates.ts';
import { sql } from 'kysely';

let database: Database;
let drop: () => Promise<void>;
/** The columns of all indexes of the database by table, without the workspace. */
let indexes: Map<string, string[]>;
beforeAll(async () => {
  ({ database, drop } = await copyTemplate('migrated'));
  const { rows } = await sql<{ tableName: string; definition: string }>`
    select tablename as "tableName", indexdef as definition from pg_indexes where schemaname = 'public'`.execute(
    database.unscoped,
  );
  indexes = new Map(
    [...Map.groupBy(rows, ({ tableName }) => tableName)].map(([table, of]) => [
      table,
      of.map(({ definition }) => columnsIn(definition)),
    ]),
  );
});
afterAll(() => drop());

const declared = Object.entries(listIndexes).flatMap(([table, of]) =>
  of.map((index) => ({ table, index, columns: index.columns.join(', ') })),
);

it.each(declared)('the database has an index of $table on $columns', ({ table, index }) => {
  const columns = index.columns.map(inSql).join(', ');
  const having = indexes.get(inSql(table)) ?? [];
  const form = `btree: workspace_id, ${columns}`;
  expect(having.filter((each) => each === form || each === `${form}, id`)).not.toEqual([]);
});

it.each(Object.entries(textTables))(
  'finds an index of the words of %s in the database',
  (_, { column, table }) => {
    expect(indexes.get(inSql(table))).toContain(`gin: workspace_id, ${inSql(column)}`);
  },
);

it.each(Object.entries(joinIndexes))('the database has the index of %s', (table, { child, parent }) => {
  expect(indexes.get(inSql(table))).toContain(`btree: workspace_id, ${inSql(child)}, ${inSql(parent)}`);
});

function columnsIn(definition: string): string {
  const [, method, columns = ''] = /using (\w+) \(([^)]*)\)/i.exec(definition) ?? [];
  return `${method}: ${columns.replaceAll(' gin_trgm_ops', '')}`;
}

function inSql(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
