import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { verifyDatabase } from '../../src/portability/verify.ts';
import { abandonedUploads, longDeletedIssues } from '../../src/resolvers/housekeeping.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { tidy } from '../../src/server/janitor.ts';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { inProcess } from './workgraph.ts';

// What was done here between two imports of the same source stays.

type Line = Record<string, unknown>;

const dayMs = 24 * 60 * 60_000;
const header = {
  _type: 'header',
  format: 'workgraph',
  version: 1,
  workspace: { id: 'there', name: 'There' },
  directory: { teams: [{ code: 'ENG', name: 'Engineering' }] },
};

let app: App;
let own: TestWorkspace;
let owner: Caller;

beforeAll(async () => {
  app = await startApp();
});

beforeEach(async () => {
  own = await app.secondWorkspace();
  owner = callerOf(app, own.token);
});

afterAll(() => app.stop());

function issue(number: number, fields: Line = {}): Line {
  return { _type: 'issue', key: `ENG-${number}`, title: `Issue ${number}`, status: 'Todo', ...fields };
}

const made = { createdUtc: '2026-01-02T03:04:05.678Z', updatedUtc: '2026-01-02T03:04:05.678Z' };

async function imported(lines: readonly Line[]): Promise<Line & { warnings: string[] }> {
  const text = [header, ...lines].map((line) => JSON.stringify(line)).join('\n');
  writeFileSync(join(app.dataDir, 'again.ndjson'), `${text}\n`);
  const workspace = encodeId('workspace', own.workspaceId);
  const said = await inProcess(app, 'import', [
    'again.ndjson',
    '--from',
    'ndjson',
    '--workspace',
    workspace,
    '--json',
  ]);
  expect(said.exitCode).toBe(0);
  const warnings = said.stderr.split('\n').filter((line) => line.startsWith('line '));
  return { ...(JSON.parse(said.stdout) as Line), warnings };
}

/** Runs a round of the janitor with the clock advanced. */
async function clean(laterMs: number): Promise<void> {
  const chores = [abandonedUploads(app.database, app.store), longDeletedIssues(app.database, app.store)];
  const problems: unknown[] = [];
  const logger = { info: () => undefined, warn: (problem: unknown) => problems.push(problem) };
  await tidy(chores, logger, () => false, new Date(Date.now() + laterMs));
  expect(problems).toEqual([]);
}

it('an issue that was deleted here stays deleted after the janitor has purged it', async () => {
  const lines = [
    issue(1, made),
    issue(2, { ...made, comments: [{ id: '1', author: 'Ann', body: 'Hello' }] }),
  ];
  await imported(lines);
  await owner.mutate('issueDelete', { key: 'ENG-2' });
  await clean(31 * dayMs);
  expect(await imported(lines)).toMatchObject({ created: 0, unchanged: 1, deletedHere: 1 });
  const moved = [issue(1, { ...made, parent: 'ENG-2' }), issue(2, { ...made, title: 'Other' })];
  expect(await imported(moved)).toMatchObject({
    created: 0,
    updated: 1,
    deletedHere: 1,
    warnings: ['line 2: it is left without its parent ENG-2, which was deleted here'],
  });
  expect(await owner.read('ENG-1')).toMatchObject({ parentIssueId: null });
  expect(await records('ENG-2%')).toEqual([{ record: { purged: true } }]);
  // The clock of the test is not that of the database, for which ENG-2 is too young to be purged.
  expect((await broken()).filter((text) => !/number/.test(text))).toEqual([]);
});

it('a changed issue keeps the times that its source does not have', async () => {
  const done = issue(1, { status: { name: 'Done', category: 'completed' } });
  await imported([done, issue(2), issue(3, { updatedUtc: made.updatedUtc })]);
  const { rows: statuses } = await sql<{ id: string }>`
    select id from status where is_terminal and workspace_id = ${own.workspaceId} order by position limit 1`.execute(
    app.database.unscoped,
  );
  await owner.update('ENG-2', { statusId: encodeId('status', statuses[0]?.id ?? '') });
  const before = await Promise.all(['ENG-1', 'ENG-2', 'ENG-3'].map((key) => owner.read(key)));
  expect(before[1]).toMatchObject({ closedUtc: expect.any(String) });
  const changed = { title: 'Changed', status: { name: 'Done', category: 'completed' } };
  const later = { ...changed, updatedUtc: '2026-02-02T00:00:00.000Z' };
  expect(await imported([{ ...done, title: 'Changed' }, issue(2, changed), issue(3, later)])).toMatchObject({
    updated: 3,
  });
  const after = await Promise.all(['ENG-1', 'ENG-2', 'ENG-3'].map((key) => owner.read(key)));
  expect(after).toMatchObject(
    before.map((old) => ({ title: 'Changed', createdUtc: old?.createdUtc, closedUtc: old?.closedUtc })),
  );
  expect(after[2]).toMatchObject({ updatedUtc: later.updatedUtc });
  expect(await broken()).toEqual([]);
});

/** What `verify` finds in the workspace. */
async function broken(): Promise<string[]> {
  const { findings } = await verifyDatabase(app.database, { limit: 5, workspaceId: own.workspaceId });
  return findings.flatMap(({ rule, rows }) => rows.map(({ key, detail }) => `${rule}: ${key}: ${detail}`));
}

it('a deleted child that was imported in an earlier batch than its parent is not counted', async () => {
  const deletedUtc = '2026-01-03T00:00:00.000Z';
  const child = issue(1, { ...made, parent: 'ENG-150', deletedUtc });
  const others = Array.from({ length: 149 }, (_, index) => issue(index + 2, made));
  expect(await imported([child, ...others])).toMatchObject({ created: 150, parents: 1, warnings: [] });
  expect(await owner.read('ENG-150')).toMatchObject({ subIssueCount: 0 });
  expect(await broken()).toEqual([]);
});

/** What the service remembers of the objects with such ids in the source. */
function records(sourceIds: string) {
  return app.database
    .of(own.workspaceId)
    .selectFrom('importSource')
    .select('record')
    .where('sourceId', 'like', sourceIds)
    .execute();
}
