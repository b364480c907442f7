import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { copyTemplate } from '../support/templates.ts';

/** Tables from which no row is ever removed while others refer to it. */
const permanent = [
  'agent_installation',
  'delivery',
  'label',
  'member',
  'project',
  'project_status',
  'status',
  'team',
  'user_account',
  'workspace',
];

interface ForeignKey {
  table: string;
  refersTo: string;
  columns: string[];
  /** The indexes of the table, as far as they have rows of each value of the columns. */
  indexes: string[][];
}

/**
 * When a row is removed, PostgreSQL looks for rows that refer to it. Without an index by the column that refers to it, it would read the whole
 * table for each removed row, and with an index that begins with another of the columns, all rows with the same value there.
 */
it('an index finds the rows that refer to a row that may be removed', async () => {
  const { database, drop } = await copyTemplate('migrated');
  const { rows } = await sql<ForeignKey>`
    select c.conrelid::regclass::text as "table", c.confrelid::regclass::text as "refersTo",
      array(
        select a.attname::text from unnest(c.conkey) with ordinality k(number, ordinal)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number order by k.ordinal
      ) as columns,
      array(
        select to_json(array(
          select a.attname::text from unnest(i.indkey::int2[]) with ordinality k(number, ordinal)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number order by k.ordinal
        ))
        from pg_index i where i.indrelid = c.conrelid and (
          i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = any(array(
            select format('(%s IS NOT NULL)', a.attname) from pg_attribute a
            where a.attrelid = c.conrelid and a.attnum = any(c.conkey)
          ))
        )
      ) as indexes
    from pg_constraint c where c.contype = 'f'`.execute(database.unscoped);
  await drop();
  const removable = rows.filter(({ refersTo }) => !permanent.includes(refersTo));
  expect(removable.map(({ refersTo }) => refersTo)).toEqual(
    expect.arrayContaining(['issue', 'comment', 'agent_thread', 'agent_thread_message', 'access_token']),
  );
  const unindexed = removable.filter(({ columns, indexes }) => {
    const referring = columns.at(-1) as string;
    return !indexes.some(([workspace, first]) => workspace === 'workspace_id' && first === referring);
  });
  expect(unindexed).toEqual([]);
});
