import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { ExpressionBuilder } from 'kysely';
import type { AnyTables } from '../../src/db/query/any-tables.ts';
import { loose, refusedTable, ws } from './proved.ts';
import type { Statement } from './proved.ts';

/** Statements in which each reference is bound, so they compile. */
const accepted: Record<string, Statement> = {
  'a CTE': () =>
    loose
      .with('mine', (qb) =>
        qb.selectFrom('issue').select(['workspaceId', 'id']).where('workspaceId', '=', ws),
      )
      .selectFrom('mine')
      .innerJoin('team as t', 't.workspaceId', 'mine.workspaceId')
      .select('t.id'),
  'a CTE with its columns named': () =>
    loose
      .with('mine(key, workspaceId)', (qb) =>
        qb.selectFrom('issue').select(['id as key', 'workspaceId']).where('workspaceId', '=', ws),
      )
      .selectFrom('mine')
      .innerJoin('team as t', 't.workspaceId', 'mine.workspaceId')
      .select('t.id'),
  'a CTE of the value alone': () =>
    loose
      .with('given', (qb) => qb.selectNoFrom(sql<string>`${ws}::uuid`.as('workspaceId')))
      .selectFrom('issue as i')
      .innerJoin('given as g', 'g.workspaceId', 'i.workspaceId')
      .select('i.id'),
  'a scalar from a CTE of the value': () =>
    loose
      .with('given', (qb) => qb.selectNoFrom(sql<string>`${ws}::uuid`.as('workspaceId')))
      .selectFrom('issue as i')
      .select('i.id')
      .where('i.workspaceId', '=', (eb: ExpressionBuilder<AnyTables, never>) =>
        eb.selectFrom('given').select('workspaceId'),
      ),
  'a CTE named like a table': () =>
    loose
      .with('issue', (qb) => qb.selectFrom('issue').selectAll().where('workspaceId', '=', ws))
      .selectFrom('issue')
      .selectAll(),
  'a recursive CTE': () =>
    loose
      .withRecursive('above', (qb) =>
        qb
          .selectFrom('issue as i')
          .select(['i.workspaceId', 'i.parentIssueId'])
          .where('i.workspaceId', '=', ws)
          .unionAll(
            qb
              .selectFrom('above as a')
              .innerJoin('issue as p', 'p.workspaceId', 'a.workspaceId')
              .select(['p.workspaceId', 'p.parentIssueId']),
          ),
      )
      .selectFrom('above')
      .selectAll(),
  'a union': () =>
    loose
      .selectFrom('issue')
      .select('id')
      .where('workspaceId', '=', ws)
      .union((eb) => eb.selectFrom('team').select('id').where('workspaceId', '=', ws)),
};

/** Statements that could read another workspace, with the table that the refusal names. */
const refused: Record<string, [table: string, Statement]> = {
  'a CTE': [
    'issue',
    () =>
      loose
        .with('all', (qb) => qb.selectFrom('issue').selectAll())
        .selectFrom('all')
        .selectAll()
        .where('workspaceId', '=', ws),
  ],
  'a CTE that nobody reads': [
    'issue',
    () => loose.with('gone', (qb) => qb.deleteFrom('issue')).selectNoFrom(sql`1`.as('one')),
  ],
  'a join to a CTE of a global table': [
    'team',
    () =>
      loose
        .with('people', (qb) => qb.selectFrom('userAccount').select('id as workspaceId'))
        .selectFrom('people as p')
        .innerJoin('team as t', 't.workspaceId', 'p.workspaceId')
        .select('t.id'),
  ],
  'a join to a union with an unbound half': [
    'team',
    () =>
      loose
        .with('both', (qb) =>
          qb
            .selectFrom('issue')
            .select('workspaceId')
            .where('workspaceId', '=', ws)
            .union(qb.selectFrom('userAccount').select('id as workspaceId')),
        )
        .selectFrom('both as b')
        .innerJoin('team as t', 't.workspaceId', 'b.workspaceId')
        .select('t.id'),
  ],
  'the recursive half of a CTE': [
    'issue',
    () =>
      loose
        .withRecursive('above', (qb) =>
          qb
            .selectFrom('issue as i')
            .select(['i.workspaceId', 'i.parentIssueId'])
            .where('i.workspaceId', '=', ws)
            .unionAll(
              qb
                .selectFrom('above as a')
                .innerJoin('issue as p', 'p.id', 'a.parentIssueId')
                .select(['p.workspaceId', 'p.parentIssueId']),
            ),
        )
        .selectFrom('above')
        .selectAll(),
  ],
  'a table that a later CTE is named like': [
    'team',
    () =>
      loose
        .with('first', (qb) => qb.selectFrom('team').select('id'))
        .with('team', (qb) => qb.selectFrom('issue').select('id').where('workspaceId', '=', ws))
        .selectFrom('team')
        .selectAll(),
  ],
  'one half of a union': [
    'team',
    () =>
      loose
        .selectFrom('issue')
        .select('id')
        .where('workspaceId', '=', ws)
        .unionAll((eb) => eb.selectFrom('team').select('id')),
  ],
};

describe('the tenant prover, of CTEs and unions', () => {
  it.each(Object.entries(accepted))('accepts %s', (_name, statement) => {
    expect(refusedTable(statement)).toBeUndefined();
  });

  it.each(Object.entries(refused))('refuses %s', (_name, [table, statement]) => {
    expect(refusedTable(statement)).toBe(table);
  });
});
