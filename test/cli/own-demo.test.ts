import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { seedDemo } from '../../src/cli/demo/seed-demo.ts';
import { previewKind } from '../../src/model/codes.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

let testDatabase: TestDatabase;
let from: string;
const databases = new Map<'migrated' | 'demo', TestDatabase>();

/** A test before may have used the empty database, and has left nothing in it then. */
async function use(content: 'migrated' | 'demo'): Promise<void> {
  testDatabase = databases.get(content) ?? (await copyTemplate(content));
  databases.set(content, testDatabase);
}

beforeEach(() => {
  from = mkdtempSync(join(tmpdir(), 'workgraph-own-demo-'));
});

afterEach(() => rmSync(from, { recursive: true, force: true }));

afterAll(async () => {
  for (const { drop } of databases.values()) await drop();
});

function seed(options: { from?: string } = {}): ReturnType<typeof seedDemo> {
  const store = openStorage({ dataDir: testDatabase.dataDir, storageUrl: undefined });
  return seedDemo(testDatabase.database, {
    store,
    actor: systemActor,
    now: new Date('2026-03-18T14:30:00Z'),
    ...options,
  });
}

const ownDirectory = `
workspace: Mine
members: [{ displayName: Ann, emailAddress: ann@example.com, role: owner }]
teams: [{ code: DEV, name: Developers, createdUtc: 2026-01-01 }]
`;

const ownHeader = {
  _type: 'header',
  format: 'workgraph',
  version: 1,
  workspace: { id: 'mine', name: 'Mine' },
  referenceUtc: '2026-02-03T12:00:00Z',
};

const ownIssue = ownIssueWith({ file: 'plan.md' });

function ownIssueWith(attachment: object) {
  return {
    _type: 'issue',
    key: 'DEV-1',
    title: 'Begin',
    status: 'Todo',
    reporter: 'Ann',
    dueDate: '2026-02-05',
    createdUtc: '2026-02-02T09:00:00Z',
    updatedUtc: '2026-02-02T10:00:00Z',
    attachments: [{ uploadedBy: 'ann@example.com', createdUtc: '2026-02-02T11:00:00Z', ...attachment }],
    activity: [
      {
        eventType: 'issue.updated.v1',
        actor: 'Ann',
        occurredUtc: '2026-02-02T10:00:00Z',
        text: 'Ann set the due date to 2026-02-05',
      },
    ],
  };
}

function write(lines: readonly object[], directory = ownDirectory): void {
  writeFileSync(join(from, 'directory.yaml'), directory);
  writeFileSync(join(from, 'issues.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

it('own files create a workspace beside the demo, and their dates are shifted', async () => {
  write([ownHeader, ownIssue]);
  writeFileSync(join(from, 'plan.md'), '# The plan');
  await use('demo');
  const workspaceId = await seed({ from });
  const { rows } = await sql
    .raw(
      `select i.title, i.due_date, i.created_utc, a.text, f.size_bytes, f.preview_kind from issue i
          join activity a on a.issue_id = i.id join attachment f on f.issue_id = i.id where i.workspace_id = '${workspaceId}'`,
    )
    .execute(testDatabase.database.unscoped);
  expect(rows).toEqual([
    {
      title: 'Begin',
      dueDate: '2026-03-20',
      createdUtc: new Date('2026-03-17T09:00:00Z'),
      text: 'Ann set the due date to 2026-03-20',
      sizeBytes: 10,
      previewKind: previewKind.text,
    },
  ]);
  await expect(seed({ from })).rejects.toMatchObject({ code: 'conflict' });
  await expect(seed()).rejects.toMatchObject({ code: 'conflict' });
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it.each([
  ['a file that is not there', ownIssueWith({ file: 'none.md' }), 'the file none.md is not in the directory'],
  [
    'a file of the machine',
    ownIssueWith({ file: '/etc/hostname' }),
    'the file /etc/hostname is not in the directory',
  ],
  ['a file outside', ownIssueWith({ file: '../other' }), 'the file ../other is not in the directory'],
  ['a team that is not there', { ...ownIssue, key: 'OPS-1' }, 'the workspace has no team OPS'],
])('files that name %s are refused, and nothing of them is stored', async (_, issue, words) => {
  write([ownHeader, issue]);
  writeFileSync(join(from, 'plan.md'), '# The plan');
  await use('migrated');
  await expect(seed({ from })).rejects.toThrow(words);
  const { rows } = await sql.raw('select id from workspace').execute(testDatabase.database.unscoped);
  expect(rows).toEqual([]);
});

it('the demo’s files can be shortened and loaded as a demo of one’s own', async () => {
  cpSync(join(import.meta.dirname, '../../demo'), from, { recursive: true });
  const path = join(from, 'issues.ndjson');
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, `${lines.slice(0, 11).join('\n')}\n`);
  await use('migrated');
  await seed({ from });
  const { rows } = await sql
    .raw<{ n: number }>('select count(*)::int as n from issue')
    .execute(testDatabase.database.unscoped);
  expect(rows).toEqual([{ n: 10 }]);
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});
