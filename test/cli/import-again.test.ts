import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ndjsonHeader } from './ndjson-header.ts';
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

const times = { createdUtc: '2026-01-02T03:04:05.678Z', updatedUtc: '2026-01-02T03:04:05.678Z' };

async function imported(lines: readonly Line[]): Promise<Line & { warnings: string[] }> {
  const text = [ndjsonHeader, ...lines].map((line) => JSON.stringify(line)).join('\n');
  writeFileSync(join(app.dataDir, 'again.ndjson'), `${text}\n`);
  const workspace = encodeId('workspace', own.workspaceId);
  const result = await inProcess(app, 'import', [
    'again.ndjson',
    '--from',
    'ndjson',
    '--workspace',
    workspace,
    '--json',
  ]);
  expect(result.exitCode).toBe(0);
  const warnings = result.stderr.split('\n').filter((line) => line.startsWith('line '));
  return { ...(JSON.parse(result.stdout) as Line), warnings };
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
    issue(1, times),
    issue(2, { ...times, comments: [{ id: '1', author: 'Ann', body: 'Hello' }] }),
  ];
  await imported(lines);
  await owner.mutate('issueDelete', { key: 'ENG-2' });
  await clean(31 * dayMs);
  expect(await imported(lines)).toMatchObject({ created: 0, unchanged: 1, deletedHere: 1 });
  const moved = [issue(1, { ...times, parent: 'ENG-2' }), issue(2, { ...times, title: 'Other' })];
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
  await imported([done, issue(2), issue(3, { updatedUtc: times.updatedUtc })]);
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

const agent = { displayName: 'Robo', principalKind: 'agent' };
const at = '2026-01-03T00:00:00.000Z';

function file(fileName: string, fields: Line = {}): Line {
  writeFileSync(join(app.dataDir, fileName), fileName);
  return { file: fileName, uploadedBy: 'Ann', createdUtc: at, ...fields };
}

it('an issue whose line has fewer attachments, messages and deleted links than before breaks no rule', async () => {
  const [a, b, c] = [file('a.txt'), file('b.txt'), file('c.txt')];
  const message = { author: 'Ann', body: 'Hello', createdUtc: at };
  const link = { url: 'https://example.com/a', title: 'A', createdUtc: at, deletedUtc: at };
  const comment = { id: '1', author: 'Ann', body: 'Hello', createdUtc: at };
  const whole = {
    attachments: [a, b],
    agentThread: { agent, messages: [message, message] },
    links: [link],
    comments: [{ ...comment, deletedUtc: at }],
  };
  expect(await imported([issue(1, { ...times, ...whole })])).toMatchObject({ created: 1, warnings: [] });
  expect(await broken()).toEqual([]);
  const fewer = {
    title: 'Fewer',
    attachments: [b],
    agentThread: { agent, messages: [message] },
    comments: [comment],
  };
  expect(await imported([issue(1, { ...times, ...fewer })])).toMatchObject({ updated: 1 });
  expect(await broken()).toEqual([]);
  const other = { title: 'Other', attachments: [b, c] };
  expect(await imported([issue(1, { ...times, ...other })])).toMatchObject({ updated: 1 });
  expect(await records('ENG-1')).toMatchObject([
    { record: { came: { attachments: 3, messages: 2, deletedLinks: 1 } } },
  ]);
  expect(await broken()).toEqual([]);
});

it('attachments and links that were deleted here stay deleted', async () => {
  const attachments = [file('a.txt'), file('b.txt'), file('d.txt', { createdUtc: undefined })];
  const links = [{ url: 'https://example.com/a', title: 'A' }];
  await imported([issue(1, { attachments, links })]);
  for (const { id, fileName } of await filesOf('ENG-1')) if (fileName !== 'b.txt') await deleteFile(id);
  await owner.mutate('issueLinkDelete', { id: (await linksOf('ENG-1'))[0]?.id });
  await clean(2 * 60 * 60_000);
  const more = {
    title: 'Changed',
    attachments: [...attachments, file('c.txt')],
    links: [...links, { url: 'https://example.com/b', title: 'B' }],
  };
  expect(await imported([issue(1, more)])).toMatchObject({ updated: 1 });
  expect((await filesOf('ENG-1')).map(({ fileName }) => fileName).toSorted()).toEqual(['b.txt', 'c.txt']);
  expect(await linksOf('ENG-1')).toMatchObject([{ title: 'B' }]);
  expect(await owner.read('ENG-1')).toMatchObject({ linkCount: 1 });
  expect(await broken()).toEqual([]);
});

it('an attachment whose file was missing is added once the file is there', async () => {
  const missing = { file: 'missing.txt', uploadedBy: 'Ann', createdUtc: at };
  const first = await imported([issue(1, { ...times, attachments: [missing] })]);
  expect(first.warnings).toEqual([expect.stringContaining('the attachment missing.txt is skipped')]);
  file('missing.txt');
  await imported([issue(1, { ...times, title: 'Changed', attachments: [missing] })]);
  expect(await filesOf('ENG-1')).toMatchObject([{ fileName: 'missing.txt' }]);
});

type Listed = { id: string; fileName: string; title: string };

async function listed(list: 'attachments' | 'links', key: string, fields: string): Promise<Listed[]> {
  const { body } = await app.graphql<{ issue: Record<string, { nodes: Listed[] }> }>(
    `{ issue(key: "${key}") { ${list} { nodes { id ${fields} } } } }`,
    {},
    { token: own.token },
  );
  return body.data?.issue[list]?.nodes ?? [];
}

const filesOf = (key: string) => listed('attachments', key, 'fileName');
const linksOf = (key: string) => listed('links', key, 'title');

async function deleteFile(id: string): Promise<void> {
  const mutation = `mutation { attachmentDelete(input: { id: "${id}" }) { deletedAttachmentId } }`;
  expect((await app.graphql(mutation, {}, { token: own.token })).body.errors).toBeUndefined();
}

/** What `verify` finds in the workspace. */
async function broken(): Promise<string[]> {
  const { findings } = await verifyDatabase(app.database, { limit: 5, workspaceId: own.workspaceId });
  return findings.flatMap(({ rule, rows }) => rows.map(({ key, detail }) => `${rule}: ${key}: ${detail}`));
}

it('an issue that was deleted long before its import is purged 30 days after the import', async () => {
  const deletedUtc = '2026-01-03T00:00:00.000Z';
  const lines = [issue(1, times), issue(2, { ...times, deletedUtc }), issue(3, times)];
  await imported(lines);
  await clean(0);
  await clean(29 * dayMs);
  expect(await broken()).toEqual([]);
  expect(await records('ENG-2')).not.toMatchObject([{ record: { purged: true } }]);
  await clean(31 * dayMs);
  expect(await records('ENG-2')).toEqual([{ record: { purged: true } }]);
  expect(await imported(lines)).toMatchObject({ created: 0, unchanged: 3, deletedHere: 0 });
});

it('a deleted child that was imported in an earlier batch than its parent is not counted', async () => {
  const deletedUtc = '2026-01-03T00:00:00.000Z';
  const child = issue(1, { ...times, parent: 'ENG-150', deletedUtc });
  const others = Array.from({ length: 149 }, (_, index) => issue(index + 2, times));
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
