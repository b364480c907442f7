import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { beadsContent } from '../../src/cli/import/beads.ts';
import { ndjsonContent } from '../../src/cli/import/ndjson.ts';
import { runExport } from '../../src/cli/export.ts';
import { type ImportArguments, runImport } from '../../src/cli/import.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { cleanIssue } from '../../src/portability/import/import-clean.ts';
import type { LineContent } from '../../src/portability/import/import-issue.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { storeUploadedFiles } from '../support/uploaded-files.ts';
import { type ImportWorld, importWorld } from './import-world.ts';

// The history of issues goes through export and import: feeds, files, agent threads and what was deleted.

let testDatabase: TestDatabase;
let world: ImportWorld;
let copies = 0;
let copy = '';

beforeAll(async () => {
  testDatabase = await copyTemplate('demo');
  world = await importWorld(testDatabase.database, 'Elsewhere');
  await storeUploadedFiles(testDatabase.database, world.store);
});

afterAll(async () => {
  world.remove();
  await testDatabase.drop();
});

beforeEach(async () => {
  copies += 1;
  copy = `Copy ${copies}`;
  const members = [{ displayName: 'Otto', role: 'owner' }];
  const agent = { displayName: 'Robo', createdUtc: '2026-01-01' };
  const teams = [{ code: 'ENG' }];
  await applyDirectory(
    testDatabase.database,
    systemActor,
    parseDirectory({ workspace: { name: copy }, members, agent, teams }),
  );
});

type Line = Record<string, unknown>;

async function exported(workspace: string, options: { files?: string; deleted?: boolean } = {}) {
  const result = await world.run((env) => runExport(env, { workspace, ...options }));
  expect(result.exitCode).toBe(0);
  return result.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function imported(lines: readonly unknown[], args: Partial<ImportArguments> = {}) {
  const file = world.write('import.ndjson', lines);
  const result = await world.run((env) =>
    runImport(env, { file, from: 'ndjson', workspace: copy, json: true, ...args }),
  );
  const warnings = result.stderr.split('\n').filter((line) => line.startsWith('line '));
  return { ...(JSON.parse(result.stdout) as Record<string, number>), warnings };
}

/** An export without the ids that differ from workspace to workspace. */
function comparable(lines: readonly Line[]): unknown {
  const known = new Map<string, string>();
  const issues = lines.slice(1).map(({ id: _id, ...rest }) => rest);
  const text = JSON.stringify(issues).replaceAll(/\b\w+\/attachment_\w+|\bcomment_\w+/g, (id) => {
    const alias = known.get(id) ?? `#${known.size}`;
    known.set(id, alias);
    return alias;
  });
  return JSON.parse(text);
}

it('a complete export is the same after an import into another workspace', async () => {
  const out = await exported('Halyard & Tern', { files: 'exported', deleted: true });
  const first = await imported(out);
  expect(first).toMatchObject({ created: 648, refused: 0, warnings: [] });
  const there = await exported(copy, { files: 'copied', deleted: true });
  expect(comparable(there)).toEqual(comparable(out));
  const files = (directory: string) => readdirSync(join(world.directory, directory));
  expect(files('copied')).toHaveLength(files('exported').length);
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
  expect(await imported(out)).toMatchObject({ created: 0, updated: 0, unchanged: 648 });
  expect(comparable(await exported(copy, { files: 'copied', deleted: true }))).toEqual(comparable(out));
});

it('an export without flags contains no files and nothing that was deleted', async () => {
  const lines = await exported('Halyard & Tern');
  expect(lines).toHaveLength(638);
  expect(JSON.stringify(lines.slice(1))).not.toMatch(/"attachments"|"deletedUtc"/);
  await imported(lines.slice(0, 160));
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

const header = { _type: 'header', format: 'workgraph', version: 1, workspace: { id: 'x', name: 'X' } };
const times = { createdUtc: '2026-01-02T03:04:05.678Z', updatedUtc: '2026-01-02T03:04:05.678Z' };
const issue = { _type: 'issue', key: 'ENG-1', title: 'One', status: 'Todo', reporter: 'Ann', ...times };

function entry(text: string, occurredUtc: string) {
  return { eventType: 'issue.updated.v1', actor: 'Ann', occurredUtc, text };
}

const began = entry('Ann began', '2026-01-03T00:00:00.000Z');
const ended = entry('Ann ended', '2026-01-05T00:00:00.000Z');
const message = { author: 'Ann', body: 'Hello', createdUtc: '2026-01-03T00:00:00.000Z' };

it('a changed line adds only new entries to the feed, the files and the comments', async () => {
  writeFileSync(join(world.directory, 'a.txt'), 'a');
  const a = { file: 'a.txt', uploadedBy: 'Ann', createdUtc: '2026-01-03T00:00:00.000Z' };
  const comment = { id: '1', author: 'Ann', body: 'First' };
  await imported([header, { ...issue, activity: [began], attachments: [a], comments: [comment] }]);
  const changed = {
    ...issue,
    activity: [began, ended],
    attachments: [a, { ...a, fileName: 'b.txt' }],
    comments: [{ ...comment, deletedUtc: '2026-01-06T00:00:00.000Z' }],
    agentThread: { messages: [message, { authorType: 'agent', author: 'Robo', body: 'Hi', replyTo: 1 }] },
  };
  expect(await imported([header, changed])).toMatchObject({ updated: 1, warnings: [] });
  const [, line] = await exported(copy, { files: 'some', deleted: true });
  expect(line).toMatchObject({
    activity: [{ text: 'Ann began' }, { text: 'Ann ended' }],
    attachments: [{ fileName: 'a.txt' }, { fileName: 'b.txt' }],
    comments: [{ deletedUtc: '2026-01-06T00:00:00.000Z' }],
    agentThread: {
      agent: { displayName: 'Robo' },
      messages: [
        { authorType: 'user', messageType: 'prompt', turnNumber: 1, body: 'Hello' },
        { authorType: 'agent', messageType: 'response', turnNumber: 1, replyTo: 1 },
      ],
    },
  });
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('an imported attachment has its media type in the format of an upload', async () => {
  writeFileSync(join(world.directory, 'a.txt'), 'a');
  const contentTypes = ['Text/Plain; charset=UTF-8', 'a text', '', 'image/svg+xml'];
  const attachments = contentTypes.map((contentType, index) => ({
    file: 'a.txt',
    fileName: `${index}.txt`,
    contentType,
    createdUtc: `2026-01-0${index + 1}T00:00:00.000Z`,
  }));
  await imported([header, { ...issue, attachments }]);
  expect((await exported(copy, { files: 'types' }))[1]).toMatchObject({
    attachments: ['text/plain', 'application/octet-stream', 'application/octet-stream', 'image/svg+xml'].map(
      (contentType) => ({ contentType }),
    ),
  });
});

it('a label of the workspace stays one, although the team has a label of the same name', async () => {
  const directory = { labels: ['Bug', 'shared'], teams: [{ code: 'ENG', labels: ['bug', 'own'] }] };
  const lines = [
    { ...issue, labels: ['own', 'shared'], workspaceLabels: ['BUG'] },
    { ...issue, key: 'ENG-2', labels: ['bug'] },
    { ...issue, key: 'ENG-3', labels: ['bug'], workspaceLabels: ['Bug'] },
  ];
  expect(await imported([{ ...header, directory }, ...lines])).toMatchObject({ labels: 0, warnings: [] });
  const out = await exported(copy);
  expect(out.slice(1).map(({ labels, workspaceLabels }) => [labels, workspaceLabels])).toEqual([
    [['own', 'shared'], ['Bug']],
    [['bug'], undefined],
    [['bug'], ['Bug']],
  ]);
  const there = `${copy} there`;
  const members = [{ displayName: 'Otto', role: 'owner' }];
  await applyDirectory(
    testDatabase.database,
    systemActor,
    parseDirectory({ workspace: { name: there }, members }),
  );
  await imported(out, { workspace: there });
  expect(comparable(await exported(there))).toEqual(comparable(out));
});

it('a feed with other entries made here is not changed', async () => {
  await imported([header, { ...issue, activity: [began, ended] }]);
  const other = entry('Ann did something else', '2026-01-04T00:00:00.000Z');
  expect(await imported([header, { ...issue, activity: [began, other, ended] }])).toMatchObject({
    updated: 1,
  });
  expect((await exported(copy))[1]).toMatchObject({
    activity: [{ text: 'Ann began' }, { text: 'Ann ended' }],
  });
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('a deleted parent is stored, and a deletion in the source deletes nothing here', async () => {
  const deletedUtc = '2026-01-09T00:00:00.000Z';
  const parent = { ...issue, key: 'ENG-9', deletedUtc };
  const child = { ...issue, key: 'ENG-2', parent: 'ENG-9' };
  const deletedChild = { ...issue, key: 'ENG-3', parent: 'ENG-1', deletedUtc };
  expect(await imported([header, child, deletedChild, parent, issue])).toMatchObject({
    created: 4,
    parents: 2,
    warnings: [],
  });
  expect((await exported(copy, { deleted: true })).slice(1)).toMatchObject([
    { key: 'ENG-1', parent: 'ENG-3' },
    { key: 'ENG-2', parent: 'ENG-4', deletedUtc },
    { key: 'ENG-3', deletedUtc },
    { key: 'ENG-4', parent: null },
  ]);
  expect(await imported([header, { ...issue, deletedUtc }])).toMatchObject({ unchanged: 1 });
  expect((await exported(copy)).slice(1)).toMatchObject([{ key: 'ENG-1' }, { key: 'ENG-4' }]);
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('invalid parts of a history are left out with a warning', async () => {
  const { warnings } = await imported([
    header,
    {
      ...issue,
      activity: [began, { ...began, eventType: 'issue.exploded.v1' }, { ...began, text: ' ' }],
      attachments: [{ file: '../a.txt' }, { fileName: 'a.txt' }, { file: 'no\0where' }],
      agentThread: { messages: [{ ...message, body: '' }, message] },
    },
  ]);
  expect(warnings).toEqual([
    'line 2: NUL and half surrogate pairs were replaced',
    'line 2: 2 entries of the activity feed without a text or of an unknown type are skipped',
    'line 2: an attachment without a file or a name is skipped',
    expect.stringContaining('line 2: message 1 of the agent thread is skipped'),
    expect.stringContaining(
      'line 2: the attachment a.txt is skipped: the file ../a.txt is not in the directory',
    ),
    expect.stringContaining('line 2: the attachment no'),
  ]);
  expect((await exported(copy))[1]).toMatchObject({ activity: [{}], agentThread: { messages: [{}] } });
});

it('lines of earlier versions keep their fingerprints, so that importing them again changes nothing', () => {
  const person = { displayName: 'Ann', emailAddress: 'ann@example.com' };
  const at = times.createdUtc;
  const old = {
    _type: 'issue',
    id: 'issue_x',
    key: 'ENG-1',
    team: 'ENG',
    title: 'Everything',
    description: 'Two\nlines',
    status: { name: 'Review', category: 'active' },
    priority: 'urgent',
    reporter: person,
    primaryAssignee: person,
    assignees: [{ displayName: 'Robo', principalKind: 'agent' }],
    labels: ['fix'],
    parent: 'ENG-2',
    project: 'MOON',
    delivery: 3,
    estimateValue: 5,
    dueDate: '2026-02-28',
    ...times,
    closedUtc: null,
    comments: [{ id: 'c1', author: person, body: 'First', ...times, isEdited: true, parentCommentId: null }],
    links: [{ url: 'https://example.com/a', title: 'A', createdUtc: at, createdBy: person }],
    roleAssignments: [{ role: 'reviewer', member: person }],
    subscribers: [person],
    custom: 1,
  };
  const bead = {
    id: 'bd-1',
    title: 'T',
    status: 'open',
    priority: 2,
    created_at: at,
    updated_at: at,
    created_by: 'ann',
    notes: 'n',
    comments: [{ id: 1, author: 'ann', text: 'x', created_at: at }],
  };
  // As commit 41b59b1 made them.
  expect(fingerprintsOf(ndjsonContent(old))).toEqual([
    'sjyUVNsC2pt4q2dILKQdPxYQNoiY1Bsgj14PY-MeyS8',
    '8ORjoFtx4pdOF6xgw2EtB2OsHwWGQ0Xc4bcopB13O5A',
  ]);
  expect(fingerprintsOf(beadsContent(bead))).toEqual([
    'eBM83sdvuZ7R0M26PN_qD-5_S-nHvpLm58NWW3vjHXI',
    'RDinJ7D6KK2raVfmzLYU-Q3SIKnkL1ndzNsOJ16zifo',
  ]);
});

function fingerprintsOf(content: LineContent): string[] {
  const clean = content.kind === 'issue' ? cleanIssue(content.issue, new Date()) : undefined;
  return clean && 'issue' in clean
    ? [clean.issue.fingerprint, ...clean.issue.comments.map(({ fingerprint }) => fingerprint)]
    : [];
}
