import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type RootOperationNode, sql } from 'kysely';
import { Slot } from '../../src/db/statements/slots.ts';
import { onStatement } from '../support/tenant-prover/install.ts';
import { rules, violationsOf } from '../support/tenant-prover/rules.ts';
import { unscopedViolations } from '../support/tenant-prover/unscoped-rule.ts';
import { unscopedStatements } from '../support/tenant-prover/unscoped-statements.ts';
import { boundTo, db, ws } from './bound.ts';
import { loose } from './proved.ts';

const repository = join(import.meta.dirname, '../..');

/** A database without plugins, which neither adds conditions nor refuses statements. */
const bare = loose.withoutPlugins();

const other = '018f0000-0000-7000-8000-000000000002';

/** Statements in which each reference is bound, but not always to the workspace of the handle. */
const strangers: Record<string, () => { toOperationNode: () => RootOperationNode }> = {
  'a condition': () => bare.selectFrom('team').select('id').where('workspaceId', '=', other),
  'a condition the other way round': () =>
    bare
      .selectFrom('team')
      .select('id')
      .where((eb) => eb(eb.val<unknown>(other), '=', eb.ref('workspaceId'))),
  'a second condition': () =>
    bare
      .selectFrom('team as t')
      .innerJoin('issue as i', (join) => join.on('i.workspaceId', '=', other))
      .select('t.id')
      .where('t.workspaceId', '=', ws),
  'a row of an insert': () =>
    bare.insertInto('issueLabel').values([
      { workspaceId: ws, issueId: 'a' },
      { workspaceId: other, issueId: 'b' },
    ]),
  'an insert of a select': () =>
    bare
      .insertInto('issueLabel')
      .columns(['workspaceId', 'issueId'])
      .expression((eb) =>
        eb
          .selectFrom('issue')
          .select([eb.cast<string>(eb.val(other), 'uuid').as('workspaceId'), 'id'])
          .where('workspaceId', '=', ws),
      ),
};

describe('a statement without the handle of a workspace', () => {
  const read = bare.selectFrom('workspace').select('id').toOperationNode();

  it('is refused in a module that is not listed, or over a table that is not', () => {
    expect(unscopedViolations(read, 'src/db/comments.ts')).toEqual([
      'src/db/comments.ts sends a statement over workspace without the handle of a workspace.',
    ]);
    const joined = sql`select 1 from workspace w join issue i on i.workspace_id = w.workspace_id`;
    expect(unscopedViolations(joined.toOperationNode(), 'src/db/workspaces.ts')).toEqual([
      'src/db/workspaces.ts sends a statement over issue without the handle of a workspace.',
    ]);
  });

  it.each([
    ['a builder', bare.selectFrom('workspace').select('id').forUpdate().toOperationNode()],
    ['an update', bare.updateTable('workspace').set({ name: 'x' }).toOperationNode()],
    ['raw SQL', sql`select 1 from workspace for update`.toOperationNode()],
    ['a raw update', sql`update workspace w set name = 'x'`.toOperationNode()],
  ])('is refused if it locks rows by %s and its module may not', (_name, node) => {
    expect(unscopedViolations(node, 'src/db/workspaces.ts')).toEqual([
      'src/db/workspaces.ts locks rows of workspace without the handle of a workspace.',
    ]);
  });

  it('has a module that exists', () => {
    const missing = Object.keys(unscopedStatements).filter((module) => !existsSync(join(repository, module)));
    expect(missing).toEqual([]);
  });

  it('is accepted in a module of the list, and over tables without a workspace', () => {
    expect(unscopedViolations(read, 'src/db/workspaces.ts')).toEqual([]);
    const accounts = bare.selectFrom('userAccount').select('id').toOperationNode();
    expect(unscopedViolations(accounts, 'src/db/comments.ts')).toEqual([]);
  });
});

describe('the rules', () => {
  it.each(Object.entries(strangers))('find another workspace in %s', (_name, statement) => {
    expect(violationsOf({ node: statement().toOperationNode(), workspace: ws })).toEqual([
      expect.stringContaining('not that of its handle'),
    ]);
  });

  it('find a reference that is not bound', () => {
    const node = bare.with('all', (qb) => qb.selectFrom('team').selectAll()).selectFrom('all');
    expect(violationsOf({ node: node.selectAll().toOperationNode(), workspace: ws })).toEqual([
      expect.stringContaining('The reference to "team" is not bound'),
      expect.stringContaining('The workspace of "team" is not compared with a value.'),
    ]);
  });

  it.each([
    [
      'a clock in returning',
      () => bare.insertInto('team').values({ workspaceId: ws }).returning(sql`clock_timestamp()`.as('at')),
      'A returning clause contains clock_timestamp().',
    ],
    [
      'a random value within an expression in returning of a CTE',
      () =>
        bare
          .with('made', (qb) =>
            qb
              .insertInto('team')
              .values({ workspaceId: ws })
              .returning((eb) => eb.fn.coalesce('id', sql`gen_random_uuid()`).as('id')),
          )
          .selectFrom('made')
          .selectAll(),
      'A returning clause contains gen_random_uuid().',
    ],
    [
      'a CTE that locks rows',
      () =>
        bare
          .with('held', (qb) => qb.selectFrom('team').selectAll().where('workspaceId', '=', ws).forUpdate())
          .selectFrom('held')
          .selectAll(),
      'The CTE held locks rows: put the query into a subquery.',
    ],
    [
      'a clock that an update sets',
      () =>
        bare.updateTable('team').set({ updatedUtc: sql`clock_timestamp()` }).where('workspaceId', '=', ws),
      'An update sets clock_timestamp().',
    ],
    [
      'a time that an insert sets where it meets a row',
      () =>
        bare
          .insertInto('team')
          .values({ workspaceId: ws, id: 'a' })
          .onConflict((on) => on.columns(['workspaceId', 'id']).doUpdateSet({ updatedUtc: sql`now()` })),
      'An update sets now().',
    ],
    [
      'a table whose workspace is equal to that of another one alone',
      () =>
        bare
          .selectFrom('team as t')
          .innerJoin('issue as i', 'i.workspaceId', 't.workspaceId')
          .select('t.id')
          .where('t.workspaceId', '=', ws),
      'The workspace of "i" is not compared with a value.',
    ],
  ])('find %s, which a distributed database refuses', (_name, statement, message) => {
    expect(violationsOf({ node: statement().toOperationNode(), workspace: ws })).toEqual([
      expect.stringContaining(message),
    ]);
  });

  it('accept rows that a subquery of a CTE locks, and a clock in what is inserted', () => {
    const rows = bare.selectFrom('team').selectAll().where('workspaceId', '=', ws).forUpdate();
    const locking = bare.with('held', (qb) => qb.selectFrom(rows.as('found')).selectAll());
    const held = locking.selectFrom('held').selectAll().toOperationNode();
    const insert = bare.insertInto('team').values({ workspaceId: ws, createdUtc: sql`clock_timestamp()` });
    expect(violationsOf({ node: held, workspace: ws })).toEqual([]);
    expect(violationsOf({ node: insert.returning('id').toOperationNode(), workspace: ws })).toEqual([]);
  });

  it('accept the same statement for its own workspace, and in a form for any workspace', () => {
    const node = bare.selectFrom('team').select('id').where('workspaceId', '=', other).toOperationNode();
    expect(violationsOf({ node, workspace: other })).toEqual([]);
    const slot = new Slot('workspaceId');
    const prepared = bare.selectFrom('team').select('id').where('workspaceId', '=', slot).toOperationNode();
    expect(violationsOf({ node: prepared, workspace: slot })).toEqual([]);
  });

  it('accept a value in the condition of a join', () => {
    const node = bare
      .selectFrom('team as t')
      .leftJoin('issue as i', (join) => join.on('i.workspaceId', '=', ws).onRef('i.teamId', '=', 't.id'))
      .select('t.id')
      .where('t.workspaceId', '=', ws)
      .toOperationNode();
    expect(violationsOf({ node, workspace: ws })).toEqual([]);
  });

  it('have different names', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  });

  it('check each statement of a handle after the plugin has bound it', () => {
    const seen: unknown[] = [];
    const stop = onStatement(({ node, workspace }) => seen.push([node.kind, workspace]));
    db.selectFrom('team').select('id').compile();
    boundTo(other).deleteFrom('team').compile();
    stop();
    db.selectFrom('team').select('id').compile();
    expect(seen).toEqual([
      ['SelectQueryNode', ws],
      ['DeleteQueryNode', other],
    ]);
  });
});
