import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { proved, loose, refusedTable, ws } from './proved.ts';
import type { Statement } from './proved.ts';

const comment = { workspaceId: ws, id: 'c', issueId: 'i', body: 'b', authorUserAccountId: 'u' };

/** Statements in which each reference is bound, so they compile. */
const accepted: Record<string, Statement> = {
  'a CTE that writes': () =>
    loose
      .with('made', (qb) => qb.insertInto('comment').values(comment).returning(['workspaceId', 'issueId']))
      .updateTable('issue as i')
      .from('made as m')
      .set({ commentCount: 1 })
      .whereRef('i.workspaceId', '=', 'm.workspaceId')
      .whereRef('i.id', '=', 'm.issueId'),
  'an insert': () => loose.insertInto('comment').values(comment),
  'an insert of many rows': () => loose.insertInto('comment').values([comment, { ...comment, id: 'd' }]),
  'an insert with an expression': () =>
    loose.insertInto('comment').values({ ...comment, createdUtc: sql`now()` }),
  'an insert that gives back': () => loose.insertInto('comment').values(comment).returningAll(),
  'an upsert': () =>
    loose
      .insertInto('comment')
      .values(comment)
      .onConflict((on) =>
        on.columns(['workspaceId', 'id']).doUpdateSet((eb) => ({ body: eb.ref('excluded.body') })),
      ),
  'an upsert that does nothing': () =>
    loose
      .insertInto('comment')
      .values(comment)
      .onConflict((on) => on.doNothing()),
  'insert … select': () =>
    loose
      .insertInto('comment')
      .columns(['workspaceId', 'id'])
      .expression((eb) => eb.selectFrom('issue').select(['workspaceId', 'id']).where('workspaceId', '=', ws)),
  'insert … select of a value and unnest': () =>
    loose
      .insertInto('issueLabel')
      .columns(['workspaceId', 'issueId', 'labelId'])
      .expression((eb) =>
        eb
          .selectFrom(sql<{ id: string }>`unnest(${['a']}::uuid[])`.as<'given'>(sql`given(id)`))
          .select([eb.val(ws).as('workspaceId'), eb.val('i').as('issueId'), sql`given.id`.as('labelId')]),
      ),
  'insert … select of a cast value': () =>
    loose
      .insertInto('issueLabel')
      .columns(['labelId', 'workspaceId'])
      .expression((eb) =>
        eb
          .selectFrom(sql<{ id: string }>`unnest(${['a']}::uuid[])`.as<'given'>(sql`given(id)`))
          .select([sql`given.id`.as('labelId'), sql`${ws}::uuid`.as('w')]),
      ),
  'an update': () => loose.updateTable('issue').set({ title: 't' }).where('workspaceId', '=', ws),
  'an update from': () =>
    loose
      .updateTable('issue as i')
      .from('team as t')
      .set((eb) => ({ title: eb.ref('t.name') }))
      .whereRef('i.workspaceId', '=', 't.workspaceId')
      .where('t.workspaceId', '=', ws),
  'a delete': () => loose.deleteFrom('issue').where('workspaceId', '=', ws),
  'a delete using': () =>
    loose
      .deleteFrom('issueLabel as l')
      .using('issue as i')
      .whereRef('l.workspaceId', '=', 'i.workspaceId')
      .where('i.workspaceId', '=', ws),
};

/** Statements that could read or write another workspace, with the table that the refusal names. */
const refused: Record<string, [table: string, Statement]> = {
  'a write to a table that a CTE is named like': [
    'team',
    () =>
      loose
        .with('team', (qb) => qb.selectFrom('issue').select('workspaceId').where('workspaceId', '=', ws))
        .updateTable('team')
        .set({ other: 1 } as object),
  ],
  'an insert without workspaceId': ['comment', () => loose.insertInto('comment').values({ id: 'c' })],
  'an insert of defaults': ['comment', () => loose.insertInto('comment').defaultValues()],
  'an insert with one row without it': [
    'comment',
    () => loose.insertInto('comment').values([comment, { id: 'd' }]),
  ],
  'an insert with a raw workspaceId': [
    'comment',
    () => loose.insertInto('comment').values({ ...comment, workspaceId: sql`gen_random_uuid()` }),
  ],
  'insert … select of an unbound table': [
    'comment',
    () =>
      loose
        .insertInto('comment')
        .columns(['workspaceId', 'id'])
        .expression((eb) => eb.selectFrom('issue').select(['workspaceId', 'id'])),
  ],
  'insert … select with another column in its place': [
    'comment',
    () =>
      loose
        .insertInto('comment')
        .columns(['id', 'workspaceId'])
        .expression((eb) =>
          eb.selectFrom('issue').select(['workspaceId', 'id']).where('workspaceId', '=', ws),
        ),
  ],
  'insert … select *': [
    'comment',
    () =>
      loose
        .insertInto('comment')
        .columns(['workspaceId'])
        .expression((eb) => eb.selectFrom('issue').selectAll().where('workspaceId', '=', ws)),
  ],
  'an upsert over all workspaces': [
    'comment',
    () =>
      loose
        .insertInto('comment')
        .values(comment)
        .onConflict((on) => on.column('id').doUpdateSet({ body: 'b' })),
  ],
  'an update': ['issue', () => loose.updateTable('issue').set({ title: 't' }).where('id', '=', 'x')],
  'an update that moves a row': [
    'workspaceId',
    () => loose.updateTable('issue').set({ workspaceId: 'other' }).where('workspaceId', '=', ws),
  ],
  'an update from': [
    'team',
    () =>
      loose
        .updateTable('issue as i')
        .from('team as t')
        .set((eb) => ({ title: eb.ref('t.name') }))
        .whereRef('t.id', '=', 'i.teamId')
        .where('i.workspaceId', '=', ws),
  ],
  'a sub-select in set': [
    'team',
    () =>
      loose
        .updateTable('issue as i')
        .set((eb) => ({
          title: eb.selectFrom('team as t').select('t.name').whereRef('t.id', '=', 'i.teamId'),
        }))
        .where('i.workspaceId', '=', ws),
  ],
  'a delete': ['issue', () => loose.deleteFrom('issue').where('id', '=', 'x')],
  'a delete using': [
    'issue',
    () =>
      loose
        .deleteFrom('issueLabel as l')
        .using('issue as i')
        .whereRef('i.id', '=', 'l.issueId')
        .where('l.workspaceId', '=', ws),
  ],
  'a delete whose using alone is bound': [
    'issueLabel',
    () =>
      loose
        .deleteFrom('issueLabel as l')
        .using('issue as i')
        .whereRef('i.id', '=', 'l.issueId')
        .where('i.workspaceId', '=', ws),
  ],
  'a merge': [
    'MergeQueryNode',
    () =>
      loose
        .mergeInto('issue as i')
        .using('team as t', (join) => join.on('i.workspaceId', '=', ws).on('t.workspaceId', '=', ws))
        .whenMatched()
        .thenDelete(),
  ],
  'a statement about the schema': ['DropTableNode', () => proved.schema.dropTable('issue')],
};

describe('the tenant prover, of writes', () => {
  it.each(Object.entries(accepted))('accepts %s', (_name, statement) => {
    expect(refusedTable(statement)).toBeUndefined();
  });

  it.each(Object.entries(refused))('refuses %s', (_name, [table, statement]) => {
    expect(refusedTable(statement)).toBe(table);
  });
});
