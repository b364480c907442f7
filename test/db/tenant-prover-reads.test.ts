import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { loose, refusedTable, ws } from './proved.ts';
import type { Statement } from './proved.ts';

/** Statements in which each reference is bound, so they compile. */
const accepted: Record<string, Statement> = {
  'a table without an alias': () => loose.selectFrom('issue').selectAll().where('workspaceId', '=', ws),
  'a qualified column': () => loose.selectFrom('issue as i').selectAll().where('i.workspaceId', '=', ws),
  'a snake_case spelling': () => loose.selectFrom('issue').selectAll().where('workspace_id', '=', ws),
  'the binding after other conditions': () =>
    loose
      .selectFrom('issue')
      .selectAll()
      .where('id', '=', 'x')
      .where('number', '>', 3)
      .where('workspaceId', '=', ws),
  'conditions as an object': () =>
    loose
      .selectFrom('issue')
      .selectAll()
      .where((eb) => eb.and({ workspaceId: ws, id: 'x' })),
  'nested ands': () =>
    loose
      .selectFrom('issue')
      .selectAll()
      .where((eb) =>
        eb.and([eb('id', '=', 'x'), eb.and([eb('workspaceId', '=', ws), eb('number', '=', 1)])]),
      ),
  'an or beside the binding': () =>
    loose
      .selectFrom('issue')
      .selectAll()
      .where('workspaceId', '=', ws)
      .where((eb) => eb.or([eb('id', '=', 'a'), eb('id', '=', 'b')])),
  'a cast value': () => loose.selectFrom('issue').selectAll().where('workspaceId', '=', sql`${ws}::uuid`),
  'a value on the left': () =>
    loose
      .selectFrom('issue')
      .selectAll()
      .where((eb) => eb(eb.val<unknown>(ws), '=', eb.ref('workspaceId'))),
  'a cast by the builder': () =>
    loose
      .selectFrom('issue')
      .selectAll()
      .where((eb) => eb('workspaceId', '=', eb.cast(eb.val(ws), 'uuid'))),
  'a join bound through its on': () =>
    loose
      .selectFrom('issue as i')
      .innerJoin('team as t', (join) =>
        join.onRef('t.workspaceId', '=', 'i.workspaceId').onRef('t.id', '=', 'i.teamId'),
      )
      .select('t.name')
      .where('i.workspaceId', '=', ws),
  'a left join bound through its on': () =>
    loose
      .selectFrom('issue as i')
      .leftJoin('team as t', (join) => join.onRef('i.workspaceId', '=', 't.workspaceId'))
      .select('t.name')
      .where('i.workspaceId', '=', ws),
  'a left join bound by a value in its on': () =>
    loose
      .selectFrom('issue as i')
      .leftJoin('team as t', (join) => join.on('t.workspaceId', '=', ws).onRef('t.id', '=', 'i.teamId'))
      .select('t.name')
      .where('i.workspaceId', '=', ws),
  'a right join bound on its own': () =>
    loose
      .selectFrom('issue as i')
      .rightJoin('team as t', (join) => join.onRef('i.workspaceId', '=', 't.workspaceId'))
      .select('t.name')
      .where('t.workspaceId', '=', ws),
  'a chain of joins': () =>
    loose
      .selectFrom('issue as i')
      .innerJoin('team as t', (join) => join.onRef('t.workspaceId', '=', 'i.workspaceId'))
      .leftJoin('project as p', (join) => join.onRef('p.workspaceId', '=', 't.workspaceId'))
      .select('p.id')
      .where('i.workspaceId', '=', ws),
  'a chain bound at its end': () =>
    loose
      .selectFrom('issue as i')
      .innerJoin('team as t', (join) => join.onRef('t.workspaceId', '=', 'i.workspaceId'))
      .innerJoin('project as p', (join) => join.onRef('p.workspaceId', '=', 't.workspaceId'))
      .select('p.id')
      .where('p.workspaceId', '=', ws),
  'a self-join': () =>
    loose
      .selectFrom('issue as child')
      .innerJoin('issue as parent', 'parent.workspaceId', 'child.workspaceId')
      .select('parent.id')
      .where('child.workspaceId', '=', ws),
  'two tables in from': () =>
    loose
      .selectFrom(['issue as i', 'team as t'])
      .select('t.id')
      .whereRef('i.workspaceId', '=', 't.workspaceId')
      .where('t.workspaceId', '=', ws),
  'a global table alone': () => loose.selectFrom('userAccount').selectAll().where('id', '=', 'u'),
  'a global table joined': () =>
    loose
      .selectFrom('member as m')
      .innerJoin('userAccount as u', 'u.id', 'm.userAccountId')
      .select('u.id')
      .where('m.workspaceId', '=', ws),
  'a lock on one of its tables': () =>
    loose.selectFrom('issue as i').select('i.id').where('i.workspaceId', '=', ws).forNoKeyUpdate('i'),
};

/** Statements that could read another workspace, with the table that the refusal names. */
const refused: Record<string, [table: string, Statement]> = {
  'a table without a condition': ['issue', () => loose.selectFrom('issue').selectAll()],
  'another column': ['issue', () => loose.selectFrom('issue').selectAll().where('id', '=', 'x')],
  'another operator': ['issue', () => loose.selectFrom('issue').selectAll().where('workspaceId', '!=', ws)],
  'a list of workspaces': [
    'issue',
    () => loose.selectFrom('issue').selectAll().where('workspaceId', 'in', [ws]),
  ],
  'a binding inside or': [
    'issue',
    () =>
      loose
        .selectFrom('issue')
        .selectAll()
        .where((eb) => eb.or([eb('workspaceId', '=', ws), eb('id', '=', 'x')])),
  ],
  'a binding inside or inside and': [
    'issue',
    () =>
      loose
        .selectFrom('issue')
        .selectAll()
        .where((eb) =>
          eb.and([eb('number', '=', 1), eb.or([eb('workspaceId', '=', ws), eb('id', '=', 'x')])]),
        ),
  ],
  'a binding inside not': [
    'issue',
    () =>
      loose
        .selectFrom('issue')
        .selectAll()
        .where((eb) => eb.not(eb('workspaceId', '=', ws))),
  ],
  'a binding that is compared again': [
    'issue',
    () =>
      loose
        .selectFrom('issue')
        .selectAll()
        .where((eb) => eb(eb('workspaceId', '=', ws), '=', false)),
  ],
  'a binding in having': [
    'issue',
    () =>
      loose.selectFrom('issue').select('workspaceId').groupBy('workspaceId').having('workspaceId', '=', ws),
  ],
  'a binding to a column of another name': [
    'issue',
    () => loose.selectFrom('issue').selectAll().whereRef('workspaceId', '=', 'id'),
  ],
  'a binding to itself': [
    'issue',
    () => loose.selectFrom('issue as i').selectAll().whereRef('i.workspaceId', '=', 'i.workspaceId'),
  ],
  'two references bound to each other only': [
    'issue',
    () =>
      loose.selectFrom('issue as i').innerJoin('team as t', 't.workspaceId', 'i.workspaceId').select('i.id'),
  ],
  'the wrong alias bound': [
    'issue',
    () =>
      loose
        .selectFrom('issue as i')
        .innerJoin('team as t', 't.id', 'i.teamId')
        .select('i.id')
        .where('t.workspaceId', '=', ws),
  ],
  'the second of a self-join': [
    'issue',
    () =>
      loose
        .selectFrom('issue as child')
        .innerJoin('issue as parent', 'parent.id', 'child.parentIssueId')
        .select('parent.id')
        .where('child.workspaceId', '=', ws),
  ],
  'an unqualified column in a query of two tables': [
    'issue',
    () =>
      loose
        .selectFrom('issue as i')
        .innerJoin('team as t', 't.id', 'i.teamId')
        .select('i.id')
        .where('workspaceId', '=', ws),
  ],
  'the kept side of a left join, bound in its on': [
    'issue',
    () =>
      loose
        .selectFrom('issue as i')
        .leftJoin('team as t', (join) =>
          join.on('t.workspaceId', '=', ws).onRef('t.workspaceId', '=', 'i.workspaceId'),
        )
        .select('i.id'),
  ],
  'the kept side of a right join, bound in its on': [
    'issue',
    () =>
      loose
        .selectFrom('issue as i')
        .rightJoin('team as t', (join) => join.onRef('t.workspaceId', '=', 'i.workspaceId'))
        .select('t.id')
        .where((eb) => eb.or([eb('i.workspaceId', '=', ws), eb('i.id', 'is', null)])),
  ],
  'a full join, bound in its on': [
    'team',
    () =>
      loose
        .selectFrom('issue as i')
        .fullJoin('team as t', (join) => join.onRef('t.workspaceId', '=', 'i.workspaceId'))
        .select('t.id')
        .where('i.workspaceId', '=', ws),
  ],
  'a cross join': [
    'team',
    () =>
      loose.selectFrom('issue as i').crossJoin('team as t').select('t.id').where('i.workspaceId', '=', ws),
  ],
  'the second table in from': [
    'team',
    () => loose.selectFrom(['issue as i', 'team as t']).select('t.id').where('i.workspaceId', '=', ws),
  ],
  'a table reached over a global one': [
    'member',
    () =>
      loose
        .selectFrom('member as a')
        .innerJoin('userAccount as u', 'u.id', 'a.userAccountId')
        .innerJoin('member as b', 'b.userAccountId', 'u.id')
        .select('b.id')
        .where('a.workspaceId', '=', ws),
  ],
  'one name used for two references': [
    'x',
    () => loose.selectFrom(['userAccount as x', 'team as x']).select('x.id').where('x.workspaceId', '=', ws),
  ],
};

describe('the tenant prover, of tables and joins', () => {
  it.each(Object.entries(accepted))('accepts %s', (_name, statement) => {
    expect(refusedTable(statement)).toBeUndefined();
  });

  it.each(Object.entries(refused))('refuses %s', (_name, [table, statement]) => {
    expect(refusedTable(statement)).toBe(table);
  });
});
