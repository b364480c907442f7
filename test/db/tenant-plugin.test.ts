import { describe, expect, it } from '@jest/globals';
import { sql, ValuesNode } from 'kysely';
import type { Compilable, InsertQueryNode } from 'kysely';
import { TenantAdder } from '../../src/db/guard/tenant-adder.ts';
import { TenantPlugin } from '../../src/db/guard/tenant-plugin.ts';
import { Slot } from '../../src/db/statements/slots.ts';
import { boundTo, db, sqlOf, ws } from './bound.ts';

type Statement = Pick<Compilable, 'compile'>;

/** Statements without a condition on the workspace, and the SQL that is sent for them. */
const bound: Record<string, [statement: () => Statement, sent: string]> = {
  'a select': [
    () => db.selectFrom('issueLink').select('id'),
    'select id from issue_link where issue_link.workspace_id = $1',
  ],
  'a select with an alias and a condition': [
    () => db.selectFrom('issueLink as l').select('l.id').where('l.id', '=', 'x'),
    'select l.id from issue_link as l where l.id = $1 and l.workspace_id = $2',
  ],
  'an or, which it puts in parentheses': [
    () =>
      db
        .selectFrom('team')
        .select('id')
        .where((eb) => eb.or([eb('id', '=', 'x'), eb('id', '=', 'y')])),
    'select id from team where (id = $1 or id = $2) and team.workspace_id = $3',
  ],
  'both sides of an inner join': [
    () => db.selectFrom('issue as i').innerJoin('team as t', 't.id', 'i.teamId').select('i.id'),
    'select i.id from issue as i inner join team as t on t.id = i.team_id and t.workspace_id = $1 where i.workspace_id = $2',
  ],
  'the nullable side of a left join in its on': [
    () => db.selectFrom('issue as i').leftJoin('project as p', 'p.id', 'i.projectId').select('p.id'),
    'select p.id from issue as i left join project as p on p.id = i.project_id and p.workspace_id = $1 where i.workspace_id = $2',
  ],
  'a cross join in the where': [
    () => db.selectFrom('issue as i').crossJoin('team as t').select('i.id'),
    'select i.id from issue as i cross join team as t where i.workspace_id = $1 and t.workspace_id = $2',
  ],
  'a lateral join inside': [
    () =>
      db
        .selectFrom('team as t')
        .innerJoinLateral(
          (eb) => eb.selectFrom('issue as i').select('i.id').whereRef('i.teamId', '=', 't.id').as('page'),
          (join) => join.onTrue(),
        )
        .select('page.id'),
    'select page.id from team as t inner join lateral (select i.id from issue as i where i.team_id = t.id and i.workspace_id = $1) as page on true where t.workspace_id = $2',
  ],
  'a table beside a global one': [
    () =>
      db.selectFrom('userAccount as u').innerJoin('member as m', 'm.userAccountId', 'u.id').select('u.id'),
    'select u.id from user_account as u inner join member as m on m.user_account_id = u.id and m.workspace_id = $1',
  ],
  'a subquery in raw SQL': [
    () =>
      db
        .selectFrom('issue as i')
        .select('i.id')
        .where(sql<boolean>`i.team_id in ${db.selectFrom('team').select('id')}`),
    'select i.id from issue as i where i.team_id in (select id from team where team.workspace_id = $1) and i.workspace_id = $2',
  ],
  'a subquery in raw SQL within raw SQL': [
    () =>
      db
        .selectFrom('issue as i')
        .select('i.id')
        .where((eb) => {
          const teams = sql`i.team_id in ${eb.selectFrom('team').select('id')}`;
          return sql<boolean>`(${teams} or i.status_id in ${eb.selectFrom('status').select('id')})`;
        }),
    'select i.id from issue as i where (i.team_id in (select id from team where team.workspace_id = $1) or i.status_id in (select id from status where status.workspace_id = $2)) and i.workspace_id = $3',
  ],
  'a subquery in a select list': [
    () => db.selectFrom('team as t').select((eb) => eb.selectFrom('issue').select('id').limit(1).as('any')),
    'select (select id from issue where issue.workspace_id = $1 limit $2) as any from team as t where t.workspace_id = $3',
  ],
  'all parts of a union': [
    () => db.selectFrom('issue').select('id').unionAll(db.selectFrom('team').select('id')),
    'select id from issue where issue.workspace_id = $1 union all select id from team where team.workspace_id = $2',
  ],
  'a CTE, and not its name': [
    () =>
      db
        .with('mine', (qb) => qb.selectFrom('issue').select('id'))
        .selectFrom('mine')
        .select('id'),
    'with mine as (select id from issue where issue.workspace_id = $1) select id from mine',
  ],
  'the table inside a CTE of its name': [
    () =>
      db
        .with('issue', (qb) => qb.selectFrom('issue').select('id'))
        .selectFrom('issue')
        .select('id'),
    'with issue as (select id from issue where issue.workspace_id = $1) select id from issue',
  ],
  'a table that a later CTE is named like': [
    () =>
      db
        .with('first', (qb) => qb.selectFrom('team').select('id'))
        .with('team', (qb) => qb.selectFrom('first').select('id'))
        .selectFrom('team')
        .select('id'),
    'with first as (select id from team where team.workspace_id = $1), team as (select id from first) select id from team',
  ],
  'a table that a CTE of another subquery is named like': [
    () =>
      db
        .selectFrom('status')
        .select('id')
        .where((eb) =>
          eb.exists(
            db
              .with('team', (qb) => qb.selectFrom('issue').select('id'))
              .selectFrom('team')
              .select('id'),
          ),
        )
        .where((eb) => eb.exists(eb.selectFrom('team').select('id'))),
    'select id from status where exists (with team as (select id from issue where issue.workspace_id = $1) select id from team) and exists (select id from team where team.workspace_id = $2) and status.workspace_id = $3',
  ],
  'a recursive CTE': [
    () =>
      db
        .withRecursive('above', (qb) =>
          qb
            .selectFrom('issue as i')
            .select('i.id')
            .unionAll(qb.selectFrom('above as a').innerJoin('issue as p', 'p.id', 'a.id').select('p.id')),
        )
        .selectFrom('above')
        .select('id'),
    'with recursive above as (select i.id from issue as i where i.workspace_id = $1 union all select p.id from above as a inner join issue as p on p.id = a.id and p.workspace_id = $2) select id from above',
  ],
  'an update and what it reads': [
    () => db.updateTable('issue').from('team as t').set({ title: 'x' }).whereRef('t.id', '=', 'issue.teamId'),
    'update issue set title = $1 from team as t where t.id = issue.team_id and issue.workspace_id = $2 and t.workspace_id = $3',
  ],
  'the target of an update that a CTE is named like': [
    () =>
      db
        .with('issue', (qb) => qb.selectFrom('team').select('id'))
        .updateTable('issue')
        .set({ id: 'x' }),
    'with issue as (select id from team where team.workspace_id = $1) update issue set id = $2 where issue.workspace_id = $3',
  ],
  'a delete and what it uses': [
    () => db.deleteFrom('issue').using('team').whereRef('team.id', '=', 'issue.teamId'),
    'delete from issue using team where team.id = issue.team_id and issue.workspace_id = $1 and team.workspace_id = $2',
  ],
  'each row of an insert': [
    () => db.insertInto('issueLabel').values([{ issueId: 'a' }, { issueId: 'b' }]),
    'insert into issue_label (issue_id, workspace_id) values ($1, $2), ($3, $4)',
  ],
  'rows of an insert that hold expressions': [
    () => db.insertInto('issueLabel').values({ issueId: sql`${db.selectFrom('issue').select('id')}` }),
    'insert into issue_label (issue_id, workspace_id) values ((select id from issue where issue.workspace_id = $1), $2)',
  ],
  'an insert of a select, with a cast': [
    () => db.insertInto('issueLabel').columns(['issueId']).expression(db.selectFrom('issue').select('id')),
    'insert into issue_label (issue_id, workspace_id) select id, cast($1 as uuid) as workspace_id from issue where issue.workspace_id = $2',
  ],
  'an insert of a union': [
    () =>
      db
        .insertInto('issueLabel')
        .columns(['issueId'])
        .expression(db.selectFrom('issue').select('id').union(db.selectFrom('team').select('id'))),
    'insert into issue_label (issue_id, workspace_id) select id, cast($1 as uuid) as workspace_id from issue where issue.workspace_id = $2 union select id, cast($3 as uuid) as workspace_id from team where team.workspace_id = $4',
  ],
  'an upsert, whose conflict lies within the workspace': [
    () =>
      db
        .insertInto('teamCounter')
        .values({ teamId: 'x' })
        .onConflict((conflict) => conflict.column('teamId').doUpdateSet({ nextIssueNumber: 2 })),
    'insert into team_counter (team_id, workspace_id) values ($1, $2) on conflict (workspace_id, team_id) do update set next_issue_number = $3',
  ],
};

/** Statements that cannot be bound, and the reason given. */
const refused: Record<string, [statement: () => Statement, reason: string]> = {
  'an unknown table': [() => db.selectFrom('issues').selectAll(), '"issues" is neither'],
  'a table of another schema': [() => db.selectFrom('other.issue').selectAll(), '"other.issue" is neither'],
  'a table of our own schema by its name': [
    () => db.selectFrom('public.team').selectAll(),
    '"public.team" is',
  ],
  'a fragment that names a CTE outside it': [
    () =>
      db
        .with('mine', (qb) => qb.selectFrom('issue').select('id'))
        .selectFrom('team')
        .select('id')
        .where((eb) => eb.exists(db.selectFrom('mine').select('id'))),
    '"mine" is neither',
  ],
  'a right join': [
    () => db.selectFrom('issue as i').rightJoin('team as t', 't.id', 'i.teamId').select('t.id'),
    'A RightJoin keeps rows',
  ],
  'a full join': [
    () => db.selectFrom('issue as i').fullJoin('team as t', 't.id', 'i.teamId').select('t.id'),
    'A FullJoin keeps rows',
  ],
  'a merge': [
    () => db.mergeInto('issue as i').using('team as t', 't.id', 'i.teamId').whenMatched().thenDelete(),
    'MergeQueryNode is not for tenants',
  ],
  'a merge in raw SQL': [
    () => {
      const merge = db.withoutPlugins().mergeInto('issue as i').using('team as t', 't.id', 'i.teamId');
      return db.selectFrom('team').select(sql`(${merge.whenMatched().thenDelete()})`.as('merged'));
    },
    'A merge cannot be bound',
  ],
  'an insert of MySQL': [
    () => db.insertInto('team').values({ id: 'x' }).onDuplicateKeyUpdate({ name: 'x' }),
    'uses SQL that PostgreSQL does not have',
  ],
  'a replacement': [
    () => db.replaceInto('team').values({ id: 'x' }),
    'uses SQL that PostgreSQL does not have',
  ],
  'an insert of raw SQL': [
    () => db.insertInto('team').columns(['id']).expression(sql`select 1`),
    'has neither values nor a select',
  ],
  'a change of the schema': [() => db.schema.dropTable('issue'), 'DropTableNode is not for tenants'],
  'a row that changes its workspace': [
    () => db.updateTable('issue').set({ workspaceId: ws }),
    'An update sets workspaceId',
  ],
  'an upsert that changes the workspace': [
    () =>
      db
        .insertInto('teamCounter')
        .values({ teamId: 'x' })
        .onConflict((conflict) => conflict.column('teamId').doUpdateSet({ workspaceId: ws })),
    'An update sets workspaceId',
  ],
  'an upsert by the name of a constraint': [
    () =>
      db
        .insertInto('team')
        .values({ id: 'x' })
        .onConflict((conflict) => conflict.constraint('team_pkey').doUpdateSet({ name: 'x' })),
    'name the columns that conflict',
  ],
  'an insert without columns': [
    () => db.insertInto('team').defaultValues(),
    'The insert into "team" has no list of columns',
  ],
  'raw SQL that names a table': [
    () => ({ compile: () => sql`select * from issue`.compile(db) }),
    'Raw SQL names the table "issue"',
  ],
  'raw SQL as a table': [
    () => db.selectFrom(sql`issue`.as('i')).selectAll(),
    'Raw SQL names the table "issue"',
  ],
  'a table spliced into raw SQL': [
    () => ({ compile: () => sql`select * from ${sql.table('issue')}`.compile(db) }),
    'Raw SQL names the table "issue"',
  ],
  'a table as a value in raw SQL': [
    () => db.selectFrom('team').select(sql`row_to_json(${sql.table('issue')})`.as('row')),
    'Raw SQL names the table "issue"',
  ],
  'raw SQL with an open or': [
    () => db.selectFrom('issue').select('id').where(sql<boolean>`true or true`),
    'Raw SQL has an open or',
  ],
};

describe('the tenant plugin', () => {
  it.each(Object.entries(bound))('binds %s', (_name, [statement, sent]) => {
    expect(sqlOf(statement())).toBe(sent);
    expect(statement().compile().parameters).toContain(ws);
  });

  it.each(Object.entries(refused))('refuses %s', (_name, [statement, reason]) => {
    // Not a TenantProofError: the plugin itself must refuse it, not the prover.
    const refusal = { name: 'TenantError', message: expect.stringContaining(reason) as unknown };
    expect(() => statement().compile()).toThrow(expect.objectContaining(refusal));
  });

  it.each(Object.entries(bound))('does not change %s a second time', (_name, [statement]) => {
    const plugin = new TenantPlugin(ws);
    const compiled = statement().compile();
    const node = plugin.transformQuery({ node: compiled.query, queryId: compiled.queryId });
    expect(node).toEqual(compiled.query);
  });

  it('refuses an insert that gives another workspace', () => {
    const other = db.insertInto('team').values({ workspaceId: 'another', id: 'x' });
    expect(() => other.compile()).toThrow('The insert into "team" sets workspaceId');
  });

  it('does not accept a condition on another workspace as its own', () => {
    const other = boundTo('another').selectFrom('team').select('id').compile();
    const node = new TenantAdder(ws).addTo(other.query);
    expect(
      sqlOf({ compile: () => db.withoutPlugins().getExecutor().compileQuery(node, other.queryId) }),
    ).toBe('select id from team where team.workspace_id = $1 and team.workspace_id = $2');
  });

  it('binds a prepared statement to a slot that each run fills', () => {
    const slot = new Slot('workspaceId');
    expect(boundTo(slot).selectFrom('team').select('id').compile().parameters).toEqual([slot]);
  });

  it('does not copy the values of an insert', () => {
    const rows = Array.from({ length: 3 }, (_, index) => ({ id: String(index), name: sql`lower('x')` }));
    const node = db.withoutPlugins().insertInto('team').values(rows).toOperationNode();
    const bound = new TenantAdder(ws).addTo(node) as InsertQueryNode;
    const valuesOf = ({ values }: InsertQueryNode) =>
      values && ValuesNode.is(values) ? values.values.map((row) => row.values) : [];
    for (const [index, row] of valuesOf(bound).entries()) {
      const before = valuesOf(node)[index] ?? [];
      expect(before).toHaveLength(2);
      for (const [index, value] of before.entries()) expect(row[index]).toBe(value);
    }
    expect(valuesOf(bound)).toHaveLength(3);
  });
});
