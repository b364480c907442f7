import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { loose, refusedTable, ws } from './proved.ts';
import type { Statement } from './proved.ts';

/** Statements in which each reference is bound, so they compile. */
const accepted: Record<string, Statement> = {
  'raw expressions': () =>
    loose
      .selectFrom('issue as i')
      .select([sql<number>`count(*)::int`.as('n'), sql`extract(epoch from i.created_utc)`.as('at')])
      .where('i.workspaceId', '=', ws)
      .where(sql<boolean>`i.title is distinct from i.title_fold`)
      .where(sql<boolean>`(i.number = 1 or i.number = 2)`),
  'raw SQL round a query': () =>
    loose
      .selectFrom('issue as i')
      .select('i.id')
      .where('i.workspaceId', '=', ws)
      .where(
        (eb) =>
          sql<boolean>`i.team_id in (${eb.selectFrom('team').select('id').where('workspaceId', '=', ws)})`,
      ),
  'a raw text that speaks of tables': () =>
    loose.selectFrom('issue').select(sql`'from issue'`.as('text')).where('workspaceId', '=', ws),
};

/** Statements that could read another workspace, with the table that the refusal names. */
const refused: Record<string, [table: string, Statement]> = {
  'a binding in raw SQL': [
    'issue',
    () => loose.selectFrom('issue').selectAll().where(sql<boolean>`workspace_id = ${ws}`),
  ],
  'a binding undone by raw or': [
    'sql',
    () =>
      loose.selectFrom('issue').selectAll().where('workspaceId', '=', ws).where(sql<boolean>`true or true`),
  ],
  'a binding undone by raw or in an operand': [
    'sql',
    () => loose.selectFrom('issue').selectAll().where('workspaceId', '=', ws).where(sql`true or 1`, '=', 1),
  ],
  'a binding undone by a parenthesis': [
    'sql',
    () =>
      loose
        .selectFrom('issue')
        .selectAll()
        .where(sql<boolean>`true) is not null and (true`)
        .where('workspaceId', '=', ws),
  ],
  'a binding commented out': [
    'sql',
    () => loose.selectFrom('issue').selectAll().where(sql<boolean>`true --`).where('workspaceId', '=', ws),
  ],
  'a raw table in from': [
    'issue',
    () => loose.selectFrom(sql<{ id: string }>`issue`.as<'i'>(sql`i`)).select('i.id'),
  ],
  'sql.table in from': [
    'issue',
    () => loose.selectFrom(sql<{ id: string }>`${sql.table('issue')}`.as('i')).select('i.id'),
  ],
};

describe('the tenant prover, of raw SQL', () => {
  it.each(Object.entries(accepted))('accepts %s', (_name, statement) => {
    expect(refusedTable(statement)).toBeUndefined();
  });

  it.each(Object.entries(refused))('refuses %s', (_name, [table, statement]) => {
    expect(refusedTable(statement)).toBe(table);
  });
});
