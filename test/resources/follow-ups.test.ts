// @own-process, because it adds to the list of follow-ups.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type FollowUp, followUps } from '../../src/db/writes/follow-ups.ts';
import { columnsOf, partsOf } from '../../src/db/writes/write-parts.ts';
import { bead, type ImportWorld, importWorld } from '../cli/import-world.ts';
import { type App, startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';

// Follow-ups are declared in one list. This one records every write of an issue, with the counts before and after,
// in the table of sources of imported rows, because a statement may only name tables of the product.
const counters = ['revision', 'activity_count', 'comment_count', 'sub_issue_count', 'link_count'] as const;

const noteWrites: FollowUp = (db, { kind }) => {
  const parts = partsOf(db);
  const of = (table: 'locked' | 'changed') =>
    sql`json_build_array(${sql.join(counters.map((counter) => sql.ref(`${table}.${counter}`)))})`;
  const before = kind === 'insert' ? sql`'[0, 0, 0, 0, 0]'::json` : of('locked');
  const { columns, selections } = columnsOf<'importSource'>({
    source: sql.lit('note'),
    kind: sql.lit('member'),
    sourceId: sql`gen_random_uuid()::text`,
    targetId: sql.ref('changed.id'),
    record: sql`json_build_object('write', ${sql.lit(kind)}::text, 'before', ${before}, 'after', ${of('changed')})`,
  });
  const changed = parts.selectFrom('changed');
  const rows =
    kind === 'insert'
      ? changed.select(selections)
      : changed.innerJoin('locked', 'locked.ordinal', 'changed.ordinal').select(selections);
  return [['noted', parts.insertInto('importSource').columns(columns).expression(rows)]];
};

let app: App;
let world: IssueWorld;
let ada: Caller;
let imports: ImportWorld;

beforeAll(async () => {
  followUps.push(noteWrites);
  app = await startApp();
  world = await issueWorld(app);
  ada = callerOf(app, world.ada.token);
  imports = await importWorld(app.database, 'Followed');
});

afterAll(async () => {
  imports.remove();
  await app.database.unscoped.deleteFrom('importSource').where('source', '=', 'note').execute();
  const broken = await brokenInvariants(app.database);
  await app.stop();
  expect(broken).toEqual({});
});

interface Note {
  key: string;
  id: string;
  write: string;
  before: number[];
  after: number[];
}

async function notes(): Promise<Note[]> {
  const rows = await app.database.unscoped
    .selectFrom('importSource')
    .select(['sourceId', 'targetId', 'record'])
    .where('source', '=', 'note')
    .execute();
  return rows.map(({ sourceId, targetId, record }) => ({
    key: sourceId,
    id: targetId,
    ...(record as unknown as Omit<Note, 'key' | 'id'>),
  }));
}

/** The kinds of the writes that the work causes, in alphabetical order. */
async function noted(work: () => Promise<unknown>): Promise<string[]> {
  const earlier = new Set((await notes()).map(({ key }) => key));
  await work();
  const later = (await notes()).filter(({ key }) => !earlier.has(key));
  return later.map(({ write }) => write).sort();
}

const create = (input: Record<string, unknown> = {}) =>
  ada.create({ teamId: world.eng.id, title: 'An issue', ...input });

describe('a follow-up', () => {
  it('applies to a creation, with and without a parent', async () => {
    expect(await noted(() => create())).toEqual(['insert']);
    const parent = await create();
    expect(await noted(() => create({ parentIssueId: parent.id }))).toEqual(['columns', 'insert']);
  });

  it('applies to a single change, at an expected revision, of counts, and of several issues', async () => {
    const [one, two] = [await create(), await create()];
    expect(await noted(() => ada.update(one.key, { title: 'Other' }))).toEqual(['update']);
    expect(await noted(() => ada.update(one.key, { title: 'New', expectedRevision: 2 }))).toEqual(['update']);
    expect(await noted(() => ada.update(one.key, { estimateValue: 3 }))).toEqual(['update']);
    expect(await noted(() => ada.update(one.key, { labelIds: [world.shared] }))).toEqual(['update']);
    const both = { keys: [one.key, two.key], dueDate: '2026-12-01' };
    expect(await noted(() => ada.mutate('issueBatchUpdate', both))).toEqual(['update', 'update']);
    const moved = { parentIssueId: two.id };
    expect(await noted(() => ada.update(one.key, moved))).toEqual(['columns', 'update']);
  });

  it('applies to each of many writes that share statements', async () => {
    const issues: { key: string }[] = [];
    const creations = await noted(async () => {
      issues.push(...(await Promise.all(Array.from({ length: 12 }, () => create()))));
    });
    expect(creations).toEqual(Array<string>(12).fill('insert'));
    const change = ({ key }: { key: string }) => ada.update(key, { title: 'Changed' });
    const changes = await noted(() => Promise.all(issues.map(change)));
    expect(changes).toEqual(Array<string>(12).fill('update'));
  });

  it('applies to comments, links and messages of an issue', async () => {
    const { key } = await create();
    let commentId = '';
    let linkId = '';
    const comment = async (input: Record<string, unknown> = {}) => {
      const written = await ada.mutate('commentCreate', { issueKey: key, body: 'Words', ...input });
      commentId = written.comment.id;
    };
    expect(await noted(() => comment())).toEqual(['activity']);
    expect(await noted(() => comment({ parentCommentId: commentId }))).toEqual(['activity']);
    const edited = () => ada.mutate('commentUpdate', { id: commentId, body: 'Other' });
    expect(await noted(edited)).toEqual(['activity']);
    expect(await noted(() => ada.mutate('commentDelete', { id: commentId }))).toEqual(['activity']);
    const link = async () => {
      const input = { issueKey: key, url: 'https://example.com/', title: 'Elsewhere' };
      linkId = (await ada.mutate('issueLinkCreate', input)).issueLink.id;
    };
    expect(await noted(link)).toEqual(['activity']);
    expect(await noted(() => ada.mutate('issueLinkDelete', { id: linkId }))).toEqual(['activity']);
    const message = () =>
      callerOf(app, world.agent.token).mutate('agentMessageCreate', { issueKey: key, body: 'Done' });
    expect(await noted(message)).toEqual(['activity']);
  });

  it('applies to a deletion and a restoration, and to the parent and the children', async () => {
    const parent = await create();
    const middle = await create({ parentIssueId: parent.id });
    await create({ parentIssueId: middle.id });
    const three = ['columns', 'revision', 'revision'];
    expect(await noted(() => ada.mutate('issueDelete', { key: middle.key }))).toEqual(three);
    expect(await noted(() => ada.mutate('issueRestore', { key: middle.key }))).toEqual(three);
  });

  it('applies in a transaction around a whole operation', async () => {
    const { key } = await create();
    const document = `mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { revision } } }`;
    const update = async () => {
      const headers = { 'Idempotency-Key': 'once' };
      const variables = { input: { key, title: 'Once' } };
      const { body } = await app.graphql(document, variables, { token: world.ada.token, headers });
      expect(body.errors).toBeUndefined();
    };
    expect(await noted(update)).toEqual(['update']);
    expect(await noted(update)).toEqual([]);
  });

  it('applies to an import, and to a second import of changed issues', async () => {
    imports.write('a.jsonl', [bead('a'), bead('b')]);
    expect(await noted(() => imports.beads('a.jsonl', { workspace: 'Followed' }))).toEqual([
      'insert',
      'insert',
    ]);
    imports.write('a.jsonl', [bead('a', { title: 'Changed' }), bead('b')]);
    expect(await noted(() => imports.beads('a.jsonl', { workspace: 'Followed' }))).toEqual(['import']);
  });

  it('has seen every change of every count and revision', async () => {
    const issues = await app.database.unscoped
      .selectFrom('issue')
      .select(['id', 'revision', 'activityCount', 'commentCount', 'subIssueCount', 'linkCount'])
      .where('workspaceId', 'in', [world.workspaceId, imports.workspaceId])
      .execute();
    const byIssue = Map.groupBy(await notes(), ({ id }) => id);
    for (const { id, ...counts } of issues) {
      const sums = counters.map((_, index) =>
        (byIssue.get(id) ?? []).reduce(
          (sum, { before, after }) => sum + (after[index] ?? 0) - (before[index] ?? 0),
          0,
        ),
      );
      expect(sums).toEqual(Object.values(counts));
    }
    expect(issues.length).toBeGreaterThan(20);
  });
});
