import { appendFileSync, statSync, truncateSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { runImport } from '../../src/cli/import.ts';
import { memberRole, memberStatus } from '../../src/resolvers/codes.ts';
import { updateImportedIssue } from '../../src/db/import-writes.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { bead, childOf, exported, type ImportWorld, importWorld } from './import-world.ts';

let test: TestDatabase;
let world: ImportWorld;
let name = '';
let made = 0;

beforeAll(async () => {
  test = await copyTemplate('migrated');
});

afterAll(() => test.drop());

beforeEach(async () => {
  made += 1;
  name = `Workspace ${made}`;
  world = await importWorld(test.database, name);
});

afterEach(() => world.remove());

const issues = async () => (await exported(world, name)).slice(1);
const byTitle = async (title: string) => (await issues()).find((issue) => issue.title === title);

it('maps statuses, priorities, people, labels, comments and times as the docs say', async () => {
  const file = world.write('a.jsonl', [
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
  const { exitCode, summary } = await world.beads(file);
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
  const guests = await test.database.db
    .selectFrom('member')
    .select(['displayName', 'role', 'status'])
    .where('workspaceId', '=', world.workspaceId)
    .where('displayName', '=', 'ann')
    .execute();
  expect(guests).toEqual([{ displayName: 'ann', role: memberRole.guest, status: memberStatus.invited }]);
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('sets parents whichever comes first, and counts sub-issues', async () => {
  // More than a batch lies between some of them.
  const filler = Array.from({ length: 130 }, (_, index) => bead(`f-${index}`));
  const file = world.write('a.jsonl', [
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
  const { summary, stderr } = await world.beads(file);
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
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('breaks circles of parents, of one issue too', async () => {
  const file = world.write('a.jsonl', [
    bead('a', childOf('a', 'b')),
    bead('b', childOf('b', 'c')),
    bead('c', childOf('c', 'a')),
    bead('d', childOf('d', 'd')),
  ]);
  const { exitCode, summary, stderr } = await world.beads(file);
  expect([exitCode, summary.parents, summary.created]).toEqual([0, 2, 4]);
  expect(stderr).toMatch(/line 3: it is left without its parent a: that would close a circle/);
  expect(stderr).toMatch(/line 4: it is left without its parent d: that would close a circle/);
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('gives the same when run twice, and takes over what has changed since', async () => {
  const first = [
    bead('a', {
      labels: ['x'],
      comments: [{ id: 1, author: 'cy', text: 'one', created_at: '2025-11-04T00:00:00Z' }],
    }),
    bead('b', childOf('b', 'a')),
    bead('c'),
  ];
  await world.beads(world.write('a.jsonl', first));
  const before = await exported(world, name);
  const again = await world.beads('a.jsonl');
  expect(again.summary).toMatchObject({
    created: 0,
    updated: 0,
    unchanged: 3,
    comments: 0,
    members: 0,
    labels: 0,
  });
  expect(withoutTime(await exported(world, name))).toEqual(withoutTime(before));

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
  world.write('b.jsonl', [changed, { ...b, ...childOf('b', 'c') }, c, bead('d', childOf('d', 'b'))]);
  const third = await world.beads('b.jsonl');
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
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('leaves alone what was changed or deleted here, unless the source has changed', async () => {
  world.write('a.jsonl', [bead('a'), bead('b')]);
  await world.beads('a.jsonl');
  const rows = await test.database.db
    .selectFrom('issue')
    .select(['id', 'number'])
    .where('workspaceId', '=', world.workspaceId)
    .orderBy('number')
    .execute();
  await inTransaction(test.database.db, async (trx) => {
    const [first, second] = rows;
    await updateImportedIssue(trx, world.workspaceId, first?.id ?? '', { title: 'Ours', titleFold: 'ours' });
    await updateImportedIssue(trx, world.workspaceId, second?.id ?? '', { deletedUtc: new Date() });
  });
  expect((await world.beads('a.jsonl')).summary).toMatchObject({ unchanged: 2, created: 0 });
  expect(await issues()).toMatchObject([{ title: 'Ours' }]);
  world.write('a.jsonl', [
    bead('a', { title: 'Theirs' }),
    bead('b', { title: 'Theirs too' }),
    bead('c', childOf('c', 'b')),
  ]);
  const { summary, stderr } = await world.beads('a.jsonl');
  expect(summary).toMatchObject({ updated: 1, deletedHere: 1, created: 1 });
  expect(stderr).toContain('line 3: it is left without its parent b, which was deleted here');
  expect(await issues()).toMatchObject([{ title: 'Theirs' }, { key: 'BD-3', parent: null }]);
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('refuses the lines that are no issue, with number and reason, and goes on', async () => {
  const file = world.write('a.jsonl', [
    '\uFEFF' + JSON.stringify(bead('a')),
    '',
    '{"id": "b", ',
    '[1]',
    '{"_type":"memory","key":"k","value":"v"}',
    bead('c', { title: ' ' }),
    bead('a', { title: 'again' }),
    { title: 'no id' },
    JSON.stringify(bead('d')) + '\r',
    `{"id":"deep","title":"t","x":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    bead('x'.repeat(256)),
    bead('e', { title: 5 }),
    bead('f'),
  ]);
  const { exitCode, summary, stderr } = await world.beads(file);
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ created: 3, refused: 9 });
  expect(stderr.split('\n').filter((line) => line.includes('refused:'))).toEqual([
    'line 3 refused: it is not JSON',
    'line 4 refused: it is JSON but no object',
    'line 5 refused: it is of the type "memory", not an issue',
    'line 6 refused: it has no title',
    'line 7 refused: its id a is that of line 1',
    'line 8 refused: it has no id',
    'line 10 refused: its values are nested too deep',
    'line 11 refused: its id is not a text of 1 to 255 characters',
    'line 12 refused: it has no title',
  ]);
});

it('takes files that are empty or cut off, and lines of any length', async () => {
  expect(await world.beads(world.write('empty.jsonl', []))).toMatchObject({
    exitCode: 0,
    summary: { issues: 0 },
  });
  const cut = world.write('cut.jsonl', [bead('a'), JSON.stringify(bead('b'))]);
  truncateSync(cut, statSync(cut).size - 10);
  const said = await world.beads(cut);
  expect(said.summary).toMatchObject({ created: 1, refused: 1 });
  expect(said.stderr).toContain('line 2 refused: it is not JSON; the file ends within the line');
  const long = world.write('long.jsonl', [bead('c')]);
  appendFileSync(long, `{"id":"d","title":"t","notes":"${'n'.repeat(17 * 1024 * 1024)}"}\n`);
  appendFileSync(long, JSON.stringify(bead('e')));
  const longer = await world.beads(long);
  expect(longer.stderr).toContain('line 2 refused: it is longer than 16 MiB');
  expect(longer.summary).toMatchObject({ created: 2, refused: 1 });
});

it('cuts, replaces and leaves out what does not fit, each with a warning', async () => {
  const file = world.write('a.jsonl', [
    bead('a', { title: '😀'.repeat(300), description: 'd'.repeat(100_001) }),
    bead('b', { title: 'nul', description: 'a\0b\ud800', notes: 'x\0' }),
    bead('c', { title: 'odd', status: 'mystery', priority: 9, created_at: 'yesterday', updated_at: null }),
    bead('d', {
      title: 'said',
      comments: [{ id: 1, text: '  ' }, { text: 'c'.repeat(50_001) }, { id: 1, text: 'x' }],
    }),
    bead('e', { title: 'labels', labels: Array.from({ length: 60 }, (_, index) => `l${index}`) }),
    bead('g', { title: 'folded', labels: ['Été', 'ete', 'l1'] }),
  ]);
  const { exitCode, summary, stderr } = await world.beads(file);
  expect([exitCode, summary.created, summary.refused]).toEqual([0, 6, 0]);
  for (const words of [
    'line 1: the title was cut to 255 characters',
    'line 1: the description was cut to 100000 characters',
    'line 2: NUL and half surrogate pairs were replaced',
    'line 3: the status "mystery" is not known here: it is open',
    'line 3: the priority 9 is not known here: it has none',
    'line 3: it does not say when it was made',
    'line 4: comment 1 is empty and left out',
    'line 4: comment 2 was cut to 50000 characters',
    'line 5: only the first 50 of 60 labels are taken',
  ]) {
    expect(stderr).toContain(words);
  }
  expect(await byTitle('nul')).toMatchObject({ description: 'a\uFFFDb\uFFFD' });
  expect((await byTitle('folded'))?.labels).toEqual(['Été', 'l1']);
  expect((await world.beads('a.jsonl')).summary).toMatchObject({ unchanged: 6 });
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('keeps other relations and unknown fields with the source record', async () => {
  await world.beads(
    world.write('a.jsonl', [
      bead('a', {
        status: 'blocked',
        notes: 'n',
        dependencies: [{ issue_id: 'a', depends_on_id: 'z', type: 'blocks' }],
      }),
    ]),
  );
  const { record } = await test.database.db
    .selectFrom('importSource')
    .select('record')
    .where('workspaceId', '=', world.workspaceId)
    .where('kind', '=', 'issue')
    .executeTakeFirstOrThrow();
  expect(record).toMatchObject({
    relations: [{ depends_on_id: 'z', type: 'blocks' }],
    fields: { status: 'blocked', notes: 'n', issue_type: 'task' },
  });
});

it('stops between batches when it is asked to, and a second run goes on', async () => {
  const lines = Array.from({ length: 350 }, (_, index) => bead(`s-${index}`));
  const file = world.write('a.jsonl', lines);
  const stopping = new AbortController();
  const args = { file, from: 'beads', team: 'bd', workspace: name };
  const said = await world.run((env) => runImport(env, args), {
    signal: stopping.signal,
    isTerminal: true,
    stderr: () => stopping.abort(),
  });
  expect(said.exitCode).toBe(130);
  const { summary } = await world.beads(file);
  expect(summary.created + summary.unchanged).toBe(350);
  expect(await issues()).toHaveLength(350);
  expect(await brokenInvariants(test.database)).toEqual({});
});

it('makes a team when it is told its name, and refuses one that is not there', async () => {
  const file = world.write('a.jsonl', [bead('a')]);
  await expect(world.beads(file, { team: 'NEW' })).rejects.toThrow('The workspace has no team NEW');
  await world.beads(file, { team: 'new', 'create-team': 'New team' });
  expect((await exported(world, name, 'NEW')).slice(1)).toMatchObject([{ key: 'NEW-1' }]);
  await expect(world.beads('nowhere.jsonl')).rejects.toThrow(/There is no file .*nowhere/);
});

function withoutTime(lines: Record<string, unknown>[]): Record<string, unknown>[] {
  return lines.map(({ exportedUtc: _, ...line }) => line);
}
