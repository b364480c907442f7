import { expect, it } from '@jest/globals';
import { transactionTarget, inTransaction } from '../../src/db/engine/transaction.ts';
import { changeIssues } from '../../src/db/writes/issue-change.ts';
import type { RequestedChange } from '../../src/db/writes/issue-parts.ts';
import type { SettableColumn } from '../../src/model/issue-columns.ts';
import { memberRole, memberStatus } from '../../src/model/codes.ts';
import { writeEvent } from '../../src/resolvers/activity.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { bead, childOf, exported, useImportWorld } from './import-world.ts';

const suite = useImportWorld();

const issues = async () => (await exported(suite.world, suite.name)).slice(1);
const byTitle = async (title: string) => (await issues()).find((issue) => issue.title === title);

it('an import from beads maps statuses, priorities, people, labels, comments and times as the docs say', async () => {
  const file = suite.world.write('a.jsonl', [
    bead('bd-1', {
      title: '  All of it ',
      description: 'Words',
      status: 'in_progress',
      priority: 0,
      assignee: 'bob@example.com',
      labels: ['Bug', 'ui'],
      due_at: '2026-02-03T23:30:00-08:00',
      comments: [
        { id: 7, author: 'cy', text: 'first', created_at: '2025-11-02T23:00:00Z' },
        { id: 8, author: 'ann', text: 'second', created_at: '2025-11-02T23:00:00Z' },
      ],
    }),
    ...['open', 'blocked', 'hooked', 'deferred', 'pinned'].map((status) =>
      bead(`bd-${status}`, { title: status, status }),
    ),
    bead('bd-closed', { title: 'closed', status: 'closed', closed_at: '2025-12-01T00:00:00Z', priority: 4 }),
    bead('bd-gone', { status: 'tombstone' }),
  ]);
  const { exitCode, summary } = await suite.world.beads(file);
  expect(exitCode).toBe(0);
  expect(summary).toMatchObject({
    issues: 7,
    created: 7,
    tombstones: 1,
    refused: 0,
    comments: 2,
    labels: 2,
    members: 3,
  });
  expect(await byTitle('All of it')).toMatchObject({
    key: 'BD-1',
    description: 'Words',
    status: { name: 'In Progress' },
    priority: 'urgent',
    reporter: { displayName: 'ann' },
    primaryAssignee: { displayName: 'bob@example.com', emailAddress: 'bob@example.com' },
    labels: ['Bug', 'ui'],
    dueDate: '2026-02-03',
    createdUtc: '2025-11-03T06:23:49.475Z',
    updatedUtc: '2025-11-03T10:00:00.000Z',
    comments: [{ body: 'first', author: { displayName: 'cy' } }, { body: 'second' }],
    subscribers: [{ displayName: 'ann' }, { displayName: 'bob@example.com' }, { displayName: 'cy' }],
  });
  const named = Object.fromEntries(
    (await issues()).map((issue) => [issue.title, (issue.status as { name: string }).name]),
  );
  expect(named).toMatchObject({
    open: 'Todo',
    blocked: 'Todo',
    pinned: 'Todo',
    hooked: 'In Progress',
    deferred: 'Backlog',
    closed: 'Done',
  });
  expect(await byTitle('closed')).toMatchObject({ priority: 'none', closedUtc: '2025-12-01T00:00:00.000Z' });
  const guests = await suite.database.unscoped
    .selectFrom('member')
    .select(['displayName', 'role', 'status'])
    .where('workspaceId', '=', suite.world.workspaceId)
    .where('displayName', '=', 'ann')
    .execute();
  expect(guests).toEqual([{ displayName: 'ann', role: memberRole.guest, status: memberStatus.invited }]);
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('an import from beads sets parents in any order of lines, and counts sub-issues', async () => {
  // More than a batch lies between some of them.
  const filler = Array.from({ length: 130 }, (_, index) => bead(`f-${index}`));
  const file = suite.world.write('a.jsonl', [
    bead('bd-2', { title: 'before', ...childOf('bd-2', 'bd-1') }),
    ...filler,
    bead('bd-1', { title: 'top' }),
    bead('bd-3', {
      title: 'after',
      dependencies: [{ issue_id: 'bd-3', depends_on_id: 'bd-1', type: 'parent' }],
    }),
    bead('bd-1.1', {
      title: 'of two',
      dependencies: [
        { issue_id: 'bd-1.1', depends_on_id: 'bd-3', type: 'parent-child' },
        { issue_id: 'bd-1.1', depends_on_id: 'bd-1', type: 'parent-child' },
        { issue_id: 'bd-1.1', depends_on_id: 'bd-2', type: 'blocks' },
      ],
    }),
    bead('bd-4', { title: 'orphan', ...childOf('bd-4', 'bd-9') }),
    bead('bd-5', { title: 'of a tombstone', ...childOf('bd-5', 'bd-0') }),
    bead('bd-0', { status: 'tombstone' }),
  ]);
  const { summary, stderr } = await suite.world.beads(file);
  expect(summary).toMatchObject({
    parents: 3,
    parentsMissing: 2,
    relationsKept: 2,
    refused: 0,
    tombstones: 1,
  });
  expect(stderr).toContain('line 135: its parent bd-9 is not in the file');
  expect(stderr).not.toContain('bd-0');
  const top = (await byTitle('top'))?.key;
  expect(await byTitle('before')).toMatchObject({ parent: top });
  expect(await byTitle('after')).toMatchObject({ parent: top });
  expect(await byTitle('of two')).toMatchObject({ parent: top });
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('a second import from beads changes only what has changed in the source', async () => {
  const first = [
    bead('a', {
      labels: ['x'],
      comments: [{ id: 1, author: 'cy', text: 'one', created_at: '2025-11-04T00:00:00Z' }],
    }),
    bead('b', childOf('b', 'a')),
    bead('c'),
  ];
  await suite.world.beads(suite.world.write('a.jsonl', first));
  const before = await exported(suite.world, suite.name);
  const again = await suite.world.beads('a.jsonl');
  expect(again.summary).toMatchObject({
    created: 0,
    updated: 0,
    unchanged: 3,
    comments: 0,
    members: 0,
    labels: 0,
  });
  expect(withoutTime(await exported(suite.world, suite.name))).toEqual(withoutTime(before));

  const [a, b, c] = first;
  const changed = {
    ...a,
    status: 'closed',
    closed_at: '2025-12-24T00:00:00Z',
    labels: ['y'],
    comments: [
      { id: 1, author: 'cy', text: 'one, edited', created_at: '2025-11-04T00:00:00Z' },
      { id: 2, author: 'dee', text: 'two', created_at: '2025-11-05T00:00:00Z' },
    ],
  };
  suite.world.write('b.jsonl', [changed, { ...b, ...childOf('b', 'c') }, c, bead('d', childOf('d', 'b'))]);
  const third = await suite.world.beads('b.jsonl');
  expect(third.summary).toMatchObject({ created: 1, updated: 2, unchanged: 1, comments: 1, labels: 1 });
  expect(await issues()).toMatchObject([
    {
      key: 'BD-1',
      status: { name: 'Done' },
      closedUtc: '2025-12-24T00:00:00.000Z',
      labels: ['y'],
      comments: [{ body: 'one, edited', isEdited: true }, { body: 'two' }],
    },
    { key: 'BD-2', parent: 'BD-3' },
    { key: 'BD-3' },
    { key: 'BD-4', parent: 'BD-2' },
  ]);
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('an import from beads keeps changes and deletions made here, unless the source has changed', async () => {
  suite.world.write('a.jsonl', [bead('a'), bead('b')]);
  await suite.world.beads('a.jsonl');
  const rows = await suite.database.unscoped
    .selectFrom('issue')
    .select(['id', 'number'])
    .where('workspaceId', '=', suite.world.workspaceId)
    .orderBy('number')
    .execute();
  await inTransaction(suite.database.of(suite.world.workspaceId), async (trx) => {
    const [first, second] = rows;
    const change = (id = '', set: NonNullable<RequestedChange['set']> = {}) => {
      const columns = Object.keys(set) as SettableColumn[];
      const shape = { kind: 'revision', named: 'id', columns, wait: true } as const;
      const event = { id: newUuid(), actor: null };
      return changeIssues(
        transactionTarget(trx),
        shape,
        [{ issue: { id }, set, event }],
        writeEvent('issue.updated.v1'),
      );
    };
    await change(first?.id, { title: 'Ours', titleFold: 'ours' });
    await change(second?.id, { deletedUtc: new Date() });
  });
  expect((await suite.world.beads('a.jsonl')).summary).toMatchObject({
    unchanged: 1,
    deletedHere: 1,
    created: 0,
  });
  expect(await issues()).toMatchObject([{ title: 'Ours' }]);
  suite.world.write('a.jsonl', [
    bead('a', { title: 'Theirs' }),
    bead('b', { title: 'Theirs too' }),
    bead('c', childOf('c', 'b')),
  ]);
  const { summary, stderr } = await suite.world.beads('a.jsonl');
  expect(summary).toMatchObject({ updated: 1, deletedHere: 1, created: 1 });
  expect(stderr).toContain('line 3: it is left without its parent b, which was deleted here');
  expect(await issues()).toMatchObject([{ title: 'Theirs' }, { key: 'BD-3', parent: null }]);
  expect(await brokenInvariants(suite.database)).toEqual({});
});

it('an import from beads keeps other relations and unknown fields with the source record', async () => {
  await suite.world.beads(
    suite.world.write('a.jsonl', [
      bead('a', {
        status: 'blocked',
        notes: 'n',
        dependencies: [{ issue_id: 'a', depends_on_id: 'z', type: 'blocks' }],
      }),
    ]),
  );
  const { record } = await suite.database.unscoped
    .selectFrom('importSource')
    .select('record')
    .where('workspaceId', '=', suite.world.workspaceId)
    .where('kind', '=', 'issue')
    .executeTakeFirstOrThrow();
  expect(record).toMatchObject({
    relations: [{ depends_on_id: 'z', type: 'blocks' }],
    fields: { status: 'blocked', notes: 'n', issue_type: 'task' },
  });
});

it('an import from beads takes dates for times, without a warning', async () => {
  const dates = { created_at: '2026-01-01', updated_at: '2026-01-03', closed_at: '2026-01-02' };
  const file = suite.world.write('a.jsonl', [bead('bd-1', { title: 'dated', status: 'closed', ...dates })]);
  const { exitCode, stderr } = await suite.world.beads(file);
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('line 1')]);
  expect(await byTitle('dated')).toMatchObject({
    createdUtc: '2026-01-01T00:00:00.000Z',
    updatedUtc: '2026-01-03T00:00:00.000Z',
    closedUtc: '2026-01-02T00:00:00.000Z',
  });
});

it('an import from beads creates a team if it is given the name, and refuses an unknown team', async () => {
  const file = suite.world.write('a.jsonl', [bead('a')]);
  await expect(suite.world.beads(file, { team: 'NEW' })).rejects.toThrow('The workspace has no team NEW');
  await suite.world.beads(file, { team: 'new', 'create-team': 'New team' });
  expect((await exported(suite.world, suite.name, 'NEW')).slice(1)).toMatchObject([{ key: 'NEW-1' }]);
  await expect(suite.world.beads('nowhere.jsonl')).rejects.toThrow(/There is no file .*nowhere/);
  await expect(suite.world.beads(file, { team: undefined })).rejects.toThrow(
    'Name the team that gets the issues',
  );
  for (const omitted of ['team', 'workspace', 'create-team']) {
    const no = { team: undefined, workspace: undefined, from: 'backup', [omitted]: 'BD' };
    await expect(suite.world.beads(file, no)).rejects.toThrow('A backup is restored as a whole');
  }
});

function withoutTime(lines: Record<string, unknown>[]): Record<string, unknown>[] {
  return lines.map(({ exportedUtc: _, ...line }) => line);
}
