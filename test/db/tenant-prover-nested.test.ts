import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres';
import { loose, refusedTable, ws } from './proved.ts';
import type { Statement } from './proved.ts';

/** Statements in which each reference is bound, so they compile. */
const accepted: Record<string, Statement> = {
  'exists, correlated': () =>
    loose
      .selectFrom('issue as i')
      .select('i.id')
      .where('i.workspaceId', '=', ws)
      .where((eb) =>
        eb.exists(
          eb.selectFrom('comment as c').select('c.id').whereRef('c.workspaceId', '=', 'i.workspaceId'),
        ),
      ),
  'not exists, bound by a value': () =>
    loose
      .selectFrom('issue as i')
      .select('i.id')
      .where('i.workspaceId', '=', ws)
      .where((eb) =>
        eb.not(eb.exists(eb.selectFrom('comment as c').select('c.id').where('c.workspaceId', '=', ws))),
      ),
  'a scalar sub-select': () =>
    loose
      .selectFrom('issue as i')
      .select((eb) =>
        eb
          .selectFrom('comment as c')
          .select((inner) => inner.fn.countAll().as('n'))
          .whereRef('c.workspaceId', '=', 'i.workspaceId')
          .as('n'),
      )
      .where('i.workspaceId', '=', ws),
  'a lateral join': () =>
    loose
      .selectFrom('team as t')
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('issue as i')
            .selectAll('i')
            .whereRef('i.workspaceId', '=', 't.workspaceId')
            .as('page'),
        (join) => join.onTrue(),
      )
      .selectAll('page')
      .where('t.workspaceId', '=', ws),
  'unnest and a lateral join': () =>
    loose
      .selectFrom(sql`unnest(${['a']}::uuid[]) with ordinality`.as<'parent'>(sql`parent(key, ordinal)`))
      .innerJoinLateral(
        (eb) => eb.selectFrom('issue').selectAll().where('workspaceId', '=', ws).as('page'),
        (join) => join.onTrue(),
      )
      .selectAll('page'),
  'a sub-query in from': () =>
    loose
      .selectFrom((eb) => eb.selectFrom('issue').selectAll().where('workspaceId', '=', ws).as('mine'))
      .innerJoin('team as t', 't.workspaceId', 'mine.workspaceId')
      .select('t.id'),
  'a json array of a sub-query': () =>
    loose
      .selectFrom('issue as i')
      .select((eb) =>
        jsonArrayFrom(
          eb.selectFrom('comment as c').select('c.id').whereRef('c.workspaceId', '=', 'i.workspaceId'),
        ).as('comments'),
      )
      .where('i.workspaceId', '=', ws),
  'a sub-query of the database itself, bound by a value': () =>
    loose
      .selectFrom('issue as i')
      .select('i.id')
      .where('i.workspaceId', '=', ws)
      .where('i.teamId', 'in', loose.selectFrom('team').select('id').where('workspaceId', '=', ws)),
};

/** Statements that could read another workspace, with the table that the refusal names. */
const refused: Record<string, [table: string, Statement]> = {
  'exists without a binding': [
    'comment',
    () =>
      loose
        .selectFrom('issue as i')
        .select('i.id')
        .where('i.workspaceId', '=', ws)
        .where((eb) =>
          eb.exists(eb.selectFrom('comment as c').select('c.id').whereRef('c.issueId', '=', 'i.id')),
        ),
  ],
  'an outer table bound only inside exists': [
    'issue',
    () =>
      loose
        .selectFrom('issue as i')
        .select('i.id')
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('comment as c')
                .select('c.id')
                .where('c.workspaceId', '=', ws)
                .whereRef('i.workspaceId', '=', 'c.workspaceId'),
            ),
          ),
        ),
  ],
  'exists bound to an outer table that is not': [
    'issue',
    () =>
      loose
        .selectFrom('issue as i')
        .select('i.id')
        .where((eb) =>
          eb.exists(
            eb.selectFrom('comment as c').select('c.id').whereRef('c.workspaceId', '=', 'i.workspaceId'),
          ),
        ),
  ],
  'a scalar sub-select in order by': [
    'team',
    () =>
      loose
        .selectFrom('issue as i')
        .select('i.id')
        .where('i.workspaceId', '=', ws)
        .orderBy((eb) => eb.selectFrom('team as t').select('t.name').whereRef('t.id', '=', 'i.teamId')),
  ],
  'a lateral join': [
    'issue',
    () =>
      loose
        .selectFrom('team as t')
        .innerJoinLateral(
          (eb) => eb.selectFrom('issue as i').selectAll('i').whereRef('i.teamId', '=', 't.id').as('page'),
          (join) => join.onTrue(),
        )
        .selectAll('page')
        .where('t.workspaceId', '=', ws),
  ],
  'a sub-query in from': [
    'issue',
    () =>
      loose
        .selectFrom((eb) => eb.selectFrom('issue').selectAll().as('all'))
        .selectAll()
        .where('workspaceId', '=', ws),
  ],
  'a join to a sub-query that gives out another column as workspaceId': [
    'team',
    () =>
      loose
        .selectFrom((eb) =>
          eb.selectFrom('issue').select('id as workspaceId').where('workspaceId', '=', ws).as('odd'),
        )
        .innerJoin('team as t', 't.workspaceId', 'odd.workspaceId')
        .select('t.id'),
  ],
  'a json object of a sub-query': [
    'comment',
    () =>
      loose
        .selectFrom('issue as i')
        .select((eb) =>
          jsonObjectFrom(eb.selectFrom('comment as c').select('c.id').whereRef('c.issueId', '=', 'i.id')).as(
            'comment',
          ),
        )
        .where('i.workspaceId', '=', ws),
  ],
  'a raw sub-select': [
    'comment',
    () =>
      loose
        .selectFrom('issue as i')
        .select(sql`(select count(*) from comment c where c.issue_id = i.id)`.as('n'))
        .where('i.workspaceId', '=', ws),
  ],
};

describe('the tenant prover, of sub-queries', () => {
  it.each(Object.entries(accepted))('accepts %s', (_name, statement) => {
    expect(refusedTable(statement)).toBeUndefined();
  });

  it.each(Object.entries(refused))('refuses %s', (_name, [table, statement]) => {
    expect(refusedTable(statement)).toBe(table);
  });
});
