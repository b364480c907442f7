import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { runExport } from '../../src/cli/export.ts';
import { runImport } from '../../src/cli/import.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { bead, exported, type ImportWorld, importWorld } from './import-world.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';

let testDatabase: TestDatabase;
let world: ImportWorld;
let copies = 0;
let from = '';
let to = '';

beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
});

afterAll(() => testDatabase.drop());

beforeEach(async () => {
  copies += 1;
  from = `From ${copies}`;
  to = `To ${copies}`;
  world = await importWorld(testDatabase.database, from);
  await applyDirectory(testDatabase.database, systemActor, parseDirectory({ ...directory, workspace: from }));
  await applyDirectory(
    testDatabase.database,
    systemActor,
    parseDirectory({ workspace: to, members: [{ displayName: 'Otto', role: 'owner' }] }),
  );
});

afterEach(() => world.remove());

const directory = {
  labels: ['shared', { name: 'Kind', labels: ['fix', { name: 'idea', color: '#0f0' }] }],
  teams: [
    {
      code: 'ENG',
      name: 'Engineering',
      statuses: [
        { name: 'Icebox', category: 'backlog' },
        { name: 'Ready', category: 'open', isInitial: true },
        { name: 'Doing', category: 'active' },
        { name: 'Review', category: 'active', color: '#123456' },
        { name: 'Shipped', category: 'completed' },
        { name: 'Dropped', category: 'canceled' },
      ],
      labels: ['own'],
      deliveries: [
        { number: 3, name: 'Three', startsOn: '2026-01-01', endsOn: '2026-01-31', state: 'active' },
      ],
    },
  ],
  projects: [
    { key: 'MOON', team: 'ENG', name: 'Moon', status: 'Active', priority: 'high', targetUtc: '2026-03-01' },
  ],
};

const ann = { displayName: 'Ann', emailAddress: 'ann@example.com' };
const anna = { displayName: 'Ann', emailAddress: 'anna@example.com' };
const robo = { displayName: 'Robo', principalKind: 'agent' };
const olive = { displayName: 'Olive Owner', emailAddress: 'olive@example.com' };

function line(key: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    _type: 'issue',
    key,
    team: key.split('-')[0],
    title: `Title of ${key}`,
    description: '',
    status: { name: 'Ready', category: 'open' },
    priority: 'none',
    reporter: olive,
    primaryAssignee: null,
    assignees: [],
    labels: [],
    parent: null,
    project: null,
    delivery: null,
    estimateValue: null,
    dueDate: null,
    createdUtc: '2026-01-02T03:04:05.678Z',
    updatedUtc: '2026-01-02T03:04:05.678Z',
    closedUtc: null,
    comments: [],
    links: [],
    roleAssignments: [],
    subscribers: [],
    activity: [],
    ...fields,
  };
}

/** Issues with a value in every field and an object of every kind. */
const rich = [
  line('ENG-1', {
    title: 'Everything 🎉',
    description: 'Two\nlines',
    status: { name: 'Review', category: 'active' },
    priority: 'urgent',
    reporter: ann,
    primaryAssignee: anna,
    assignees: [robo, ann],
    labels: ['fix', 'own', 'shared'],
    parent: 'ENG-2',
    project: 'MOON',
    delivery: 3,
    estimateValue: 5,
    dueDate: '2026-02-28',
    updatedUtc: '2026-01-05T00:00:00.000Z',
    comments: [
      comment('c1', ann, 'First'),
      comment('c2', anna, 'Same time', {
        parentCommentId: 'c1',
        isEdited: true,
        updatedUtc: '2026-01-04T00:00:00.000Z',
      }),
      comment('c3', robo, 'Third'),
    ],
    links: [
      {
        url: 'https://example.com/a?b#c',
        title: 'A',
        createdUtc: '2026-01-03T00:00:00.000Z',
        createdBy: ann,
      },
    ],
    roleAssignments: [{ role: 'reviewer', member: robo }],
    subscribers: [ann, robo],
  }),
  line('ENG-2', {
    status: { name: 'Shipped', category: 'completed' },
    closedUtc: '2026-01-09T00:00:00.000Z',
    project: 'MOON',
    delivery: 3,
    estimateValue: 2,
  }),
  line('ENG-3', { status: { name: 'Shipped', category: 'completed' }, parent: 'BD-1' }),
];

const planned = { delivery: 3, project: 'MOON' };

/** The stages of the issues above that an import knows, in the order of their keys. */
const stagesOfRich = [
  [{ sinceUtc: '2026-01-02T03:04:05.678Z', status: 'Todo' }],
  [
    { ...planned, estimateValue: 5, sinceUtc: '2026-01-02T03:04:05.678Z', status: null },
    { ...planned, estimateValue: 5, sinceUtc: '2026-01-05T00:00:00.000Z', status: 'Review' },
  ],
  [
    { ...planned, estimateValue: 2, sinceUtc: '2026-01-02T03:04:05.678Z', status: null },
    { ...planned, estimateValue: 2, sinceUtc: '2026-01-09T00:00:00.000Z', status: 'Shipped' },
  ],
  [
    { sinceUtc: '2026-01-02T03:04:05.678Z', status: null },
    { sinceUtc: '2026-01-02T03:04:05.678Z', status: 'Shipped' },
  ],
];

function comment(id: string, author: unknown, body: string, more: Record<string, unknown> = {}) {
  const times = { createdUtc: '2026-01-03T00:00:00.000Z', updatedUtc: '2026-01-03T00:00:00.000Z' };
  return { id, author, body, ...times, isEdited: false, parentCommentId: null, ...more };
}

const header = {
  _type: 'header',
  format: 'workgraph',
  version: 1,
  workspace: { id: 'workspace_elsewhere', name: 'Elsewhere' },
};

async function importNdjson(file: string, workspace: string, args: { team?: string } = {}) {
  return world.run((env) => runImport(env, { file, from: 'ndjson', workspace, json: true, ...args }));
}

/** An export without the parts that must differ: its time, the workspace, and ids. */
function comparable(lines: Record<string, unknown>[]): unknown[] {
  return lines.map(({ id: _id, workspace: _workspace, exportedUtc: _exportedUtc, ...rest }) => {
    const comments = rest.comments as Record<string, unknown>[] | undefined;
    if (!comments) return rest;
    const indexes = new Map(comments.map(({ id }, index) => [id, index]));
    const placed = ({ id: _, parentCommentId, ...each }: Record<string, unknown>) => ({
      ...each,
      parent: indexes.get(parentCommentId),
    });
    return { ...rest, comments: comments.map(placed) };
  });
}

it('an import of an export gives the same export', async () => {
  const bd = line('BD-1', { status: { name: 'Todo', category: 'open' } });
  const first = await importNdjson(world.write('rich.ndjson', [header, bd, ...rich]), from);
  expect(first).toMatchObject({ exitCode: 0 });
  const out = await exported(world, from);
  const expected = [bd, ...rich].map((each, index) => ({ ...each, stages: stagesOfRich[index] }));
  expect(comparable(out).slice(1)).toEqual(comparable(expected));

  const file = world.write('out.ndjson', out);
  const second = await importNdjson(file, to);
  expect(second.exitCode).toBe(0);
  expect(second.stderr).toContain('created team ENG');
  expect(JSON.parse(second.stdout)).toMatchObject({
    created: 4,
    comments: 3,
    warnings: 0,
    refused: 0,
    parentsMissing: 0,
  });
  const there = await exported(world, to);
  expect(comparable(there)).toEqual(comparable(out));
  expect(await brokenInvariants(testDatabase.database)).toEqual({});

  const again = await importNdjson(file, to);
  expect(JSON.parse(again.stdout)).toMatchObject({
    created: 0,
    updated: 0,
    unchanged: 4,
    labels: 0,
    members: 0,
  });
  expect(comparable(await exported(world, to))).toEqual(comparable(there));
});

it('an import of an export adds people as invited guests, and does not change existing members', async () => {
  await importNdjson(world.write('rich.ndjson', [header, ...rich]), from);
  const out = await exported(world, from);
  await applyDirectory(
    testDatabase.database,
    systemActor,
    parseDirectory({ workspace: to, teams: [{ code: 'ENG', name: 'Ours' }] }),
  );
  await importNdjson(world.write('out.ndjson', out), to);
  const { rows } = await membersOf(to);
  expect(rows).toEqual([
    { displayName: 'Ann', role: 4, status: 1 },
    { displayName: 'Ann', role: 4, status: 1 },
    { displayName: 'Olive Owner', role: 4, status: 1 },
    { displayName: 'Otto', role: 1, status: 2 },
    { displayName: 'Robo', role: 4, status: 1 },
  ]);
  const { directory } = (await exported(world, to))[0] as {
    directory: { teams: { code: string; name: string }[] };
  };
  expect(directory.teams.find(({ code }) => code === 'ENG')).toMatchObject({ name: 'Ours' });
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('an import of an export copies into one team on request, also within the workspace', async () => {
  await importNdjson(world.write('rich.ndjson', [header, ...rich]), from);
  const file = world.write('out.ndjson', await exported(world, from, 'ENG'));
  await expect(importNdjson(file, from)).rejects.toThrow('The file is an export of this workspace');
  const { exitCode, stderr } = await importNdjson(file, from, { team: 'BD' });
  expect(exitCode).toBe(0);
  expect(stderr).toContain('line 2: the team has no delivery 3');
  expect((await exported(world, from, 'BD')).slice(1)).toMatchObject([
    { key: 'BD-1', parent: 'BD-2', project: 'MOON', delivery: null, status: { name: 'In Progress' } },
    { key: 'BD-2', status: { name: 'Done' } },
    { key: 'BD-3' },
  ]);
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('an import of a changed export changes counts of projects and deliveries with the issues', async () => {
  const [first, second, third] = rich;
  await importNdjson(world.write('a.ndjson', [header, first, second]), from);
  await importNdjson(
    world.write('b.ndjson', [
      header,
      { ...first, project: null, estimateValue: 8, primaryAssignee: null, roleAssignments: [] },
      { ...second, delivery: null, status: { name: 'Ready', category: 'open' }, closedUtc: null },
      third,
    ]),
    from,
  );
  expect((await exported(world, from, 'ENG')).slice(1)).toMatchObject([
    { project: null, delivery: 3, estimateValue: 8, primaryAssignee: null, roleAssignments: [] },
    { project: 'MOON', delivery: null, closedUtc: null },
    { key: 'ENG-3' },
  ]);
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('an export reads and writes page by page', async () => {
  await world.beads(
    world.write(
      'many.jsonl',
      Array.from({ length: 230 }, (_, index) => bead(`p-${index}`)),
    ),
  );
  const keys = (await exported(world, from, 'bd')).slice(1).map(({ key }) => key);
  expect(keys).toEqual(Array.from({ length: 230 }, (_, index) => `BD-${index + 1}`));
  const stopped = new AbortController();
  stopped.abort();
  const stopResult = await world.run((env) => runExport(env, { workspace: from }), {
    signal: stopped.signal,
  });
  expect(stopResult.exitCode).toBe(130);
});

it('an import reports what is wrong with a file that is not an export, or of a later version', async () => {
  const none = 'The file is not an export of workgraph';
  await expect(importNdjson(world.write('a.ndjson', []), to)).rejects.toThrow(none);
  await expect(importNdjson(world.write('b.ndjson', [line('ENG-1')]), to)).rejects.toThrow(none);
  await expect(importNdjson(world.write('c.ndjson', [{ ...header, version: 2 }]), to)).rejects.toThrow(
    'The file has version 2 of the format; this program can read up to version 1.',
  );
  const teamless = await importNdjson(
    world.write('d.ndjson', [header, line('ZZ-1'), { _type: 'issue' }, { _type: 'x' }]),
    to,
  );
  expect(teamless.exitCode).toBe(1);
  expect(teamless.stderr).toContain('line 2 refused: the workspace has no team ZZ');
  expect(teamless.stderr).toContain('line 3 refused: it has no key');
  expect(teamless.stderr).toContain('line 4 refused: its type is "x", not issue');
});

async function membersOf(workspace: string) {
  const { id } = await testDatabase.database.unscoped
    .selectFrom('workspace')
    .select('id')
    .where('name', '=', workspace)
    .executeTakeFirstOrThrow();
  const rows = await testDatabase.database.unscoped
    .selectFrom('member')
    .select(['displayName', 'role', 'status'])
    .where('workspaceId', '=', id)
    .orderBy('displayNameFold')
    .execute();
  return { rows };
}
