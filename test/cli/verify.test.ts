import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { contentKey, selectUploadedFiles } from '../../src/db/attachments.ts';
import type { UnscopedTrx } from '../../src/db/engine/transaction.ts';
import { findCycles } from '../../src/db/verify/cycles.ts';
import { selectFaulty, selectRules } from '../../src/db/verify/check.ts';
import { pointingNowhere, selectReferences } from '../../src/db/verify/references.ts';
import { ruleCodes } from '../../src/portability/verify.ts';
import { filesRule } from '../../src/portability/verify-files.ts';
import { type App, startApp } from '../support/app.ts';
import { fillEveryTable } from '../support/full-workspace.ts';
import { inProcess } from './workgraph.ts';

let app: App;

beforeAll(async () => {
  app = await startApp({ demo: true });
  await fillEveryTable(app);
});

afterAll(() => app.stop());

const youngest = `(select max(id::text)::uuid from issue)`;

/** How raw SQL breaks each rule but those of references, and the key under which verify names it, if one is known. */
const breakages: Readonly<Record<string, readonly [statement: string, key?: string]>> = {
  'numbers of a team have no gaps, except those of purged issues': [
    `update issue set number = 77 where id = ${youngest}`,
    'BD-77',
  ],
  'the counter of a team is at its next number': [
    `update team_counter set next_issue_number = 3 where team_id = (select id from team where code = 'BD')`,
    'BD',
  ],
  'label_ids of an issue are its labels, in their order': [
    `update issue set label_ids = array[id] where id = ${youngest}`,
    'BD-3',
  ],
  'assignee_user_account_ids of an issue are its assignees, in their order': [
    `update issue set assignee_user_account_ids = array[id] where id = ${youngest}`,
    'BD-3',
  ],
  'the counter of a team counts its living issues': [
    `update team_counter set gone_issue_count = 1 where team_id = (select id from team where code = 'BD')`,
    'BD',
  ],
  'comment_count and last_comment_utc of an issue are of its living comments': [
    `update issue set comment_count = comment_count + 1 where id = ${youngest}`,
    'BD-3',
  ],
  'link_count of an issue is of its living links': [
    `update issue set link_count = 5 where id = ${youngest}`,
    'BD-3',
  ],
  'sub_issue_count of an issue is of its living sub-issues': [
    `update issue set sub_issue_count = 1 where id = ${youngest}`,
    'BD-3',
  ],
  'the parent of an issue is not deleted, and its deleted parent is': [
    `update issue set deleted_utc = now() where id = (select parent_issue_id from issue
      where parent_issue_id is not null and deleted_utc is null limit 1)`,
  ],
  'no issue is a part of itself': [
    `update issue p set parent_issue_id = (select min(c.id::text)::uuid from issue c where c.parent_issue_id = p.id)
      where p.id = (select parent_issue_id from issue where parent_issue_id is not null limit 1)`,
  ],
  'closed_utc is set only in a terminal status': [
    `update issue set closed_utc = now() where id = ${youngest}`,
    'BD-3',
  ],
  'the last stage of an issue has the number in stage_count, has not ended, and equals the issue': [
    `update issue set estimate_value = coalesce(estimate_value, 0) + 1 where id = ${youngest}`,
    'BD-3',
  ],
  'each stage of an issue, except the last, ends when the next one begins': [
    `update issue_stage set until_utc = until_utc + interval '1 second' where ctid =
      (select ctid from issue_stage where until_utc is not null limit 1)`,
  ],
  'each stage of an issue has the status of the stage before, and whether the issue was deleted then': [
    `update issue_stage set previous_deleted = not previous_deleted where issue_id = ${youngest} and sort_order = 1`,
    'BD-3',
  ],
  'issue_text has the title of each living issue': [
    `delete from issue_text where issue_id = ${youngest}`,
    'BD-3',
  ],
  'started_utc of an issue is the beginning of one of its stages': [
    `update issue set started_utc = created_utc - interval '1 second' where id = ${youngest}`,
    'BD-3',
  ],
  'the tallies of a status add up to its living issues and their estimates': [
    `update issue_tally set estimate_sum = estimate_sum + 1 where ctid = (select ctid from issue_tally limit 1)`,
  ],
  'times of an issue are in order': [
    `update issue set updated_utc = created_utc - interval '1 day' where id = ${youngest}`,
    'BD-3',
  ],
  'the primary assignee is the assignee at position 0, and there is neither without the other': [
    `update issue set primary_assignee_user_account_id = reporter_user_account_id where id = ${youngest}`,
    'BD-3',
  ],
  'positions of the assignees of an issue are all different': [
    `update issue_assignee set position = 1 where issue_id = (select issue_id from issue_assignee
      group by issue_id having count(*) > 1 limit 1)`,
  ],
  'labels of an issue are of its team or of the whole workspace': [
    `insert into issue_label select i.workspace_id, i.id, l.id from issue i join label l on l.team_id <> i.team_id
      where i.id = ${youngest} limit 1`,
    'BD-3',
  ],
  'a reply names the author of the comment that it answers': [
    `update comment set parent_author_user_account_id = (select user_account_id from member limit 1)
      where id = (select min(id::text)::uuid from comment where parent_comment_id is null)`,
  ],
  'positions in a feed go from 1 to activity_count without gaps, the last at last_activity_utc': [
    `update activity set sort_order = 90 where issue_id = (select id from issue where team_id =
      (select id from team where code = 'BD') and number = 1)`,
    'BD-1',
  ],
  'entries of a feed are in the order of time': [
    `update activity set occurred_utc = '2001-01-01' where sort_order = 2`,
  ],
  'entries of a feed are of a known kind': [`update activity set event_type = 'issue.sung.v1'`],
  'each comment has its entry, except imported ones': [
    `delete from import_source where kind = 'comment' and source_id like 'bd-3/%'`,
    'BD-3',
  ],
  'each deleted comment has the entry of its deletion, except those that were imported as deleted': [
    `update comment set deleted_utc = now(), revision = 2 where issue_id = ${youngest}`,
    'BD-3',
  ],
  'each edit of a comment has its entry, except edits of imported comments': [
    `update comment set revision = revision + 1 where id = (select min(id::text)::uuid from comment)`,
  ],
  'each link has its entry, except those of imported issues': [
    `delete from activity where event_type = 'issue-link.created.v1'`,
  ],
  'each deleted link has the entry of its deletion, except those that were imported as deleted': [
    `update issue_link set deleted_utc = now() where deleted_utc is null`,
  ],
  'each message to or from an agent has its entry, except imported ones': [
    `delete from agent_thread_message where id = (select min(id::text)::uuid from agent_thread_message)`,
  ],
  'each attachment has its entry, except imported ones': [
    `update activity set event_type = 'issue.updated.v1' where event_type = 'issue-attachment.created.v1'`,
  ],
  'an update of an issue is counted once by its revision and has one entry, at updated_utc': [
    `update issue set updated_utc = updated_utc + interval '1 second' where id = (select id from issue order by id limit 1)`,
  ],
  'member_count of a team is of its active members': [
    `update team set member_count = 99 where code = 'BD'`,
    'BD',
  ],
  'active_project_count of a team is of its projects in an active state': [
    `update team set active_project_count = 99 where code = 'BD'`,
    'BD',
  ],
  'link_count of a project is of its links': [`update project set link_count = link_count + 1`],
  'counts of a delivery are those of its living issues': [
    `update delivery_count set closed_estimate = closed_estimate + 1`,
  ],
  'counts of a project are those of its living issues that are not canceled': [
    `update project_count set issue_count = issue_count - 1`,
  ],
  'the counts, the last message and the turns of an agent thread are those of its messages': [
    `update agent_thread set message_count = message_count + 1`,
  ],
  'a message is on the issue of its thread': [`update agent_thread_message set issue_id = ${youngest}`],
  'positions in the log go from oldest to position without gaps': [
    `update change_head set position = position + 1`,
    'change_head',
  ],
  'changes of an issue have their positions in the order of its writes': [
    `update change set sort_order = 0 where position = (select max(position) from change where event_type like 'issue-%')`,
  ],
  'the last write of an issue is in the log, if any of its writes is': [
    `update issue set revision = revision + 1 where id = ${youngest}`,
    'BD-3',
  ],
  'a webhook that is backing off, and no other, has a next attempt': [
    `update webhook set next_attempt_utc = now()`,
  ],
  'a webhook delivery that waits, and no other, is due some time, and it has been sent as often as it says': [
    `update webhook_delivery set attempt_count = attempt_count + 1`,
  ],
  'changes are of a known kind': [
    `update change set event_type = 'issue.lost.v1' where position = 1`,
    'change 1',
  ],
  'each row that an import created exists': [
    `update import_source set target_id = gen_random_uuid() where kind = 'issue' and source_id = 'bd-2'`,
    'beads:BD bd-2',
  ],
};

/** Runs in a transaction that is undone, with foreign keys and triggers asleep. */
async function undone(work: (trx: UnscopedTrx) => Promise<void>): Promise<void> {
  const undo = new Error('undo');
  const run = app.database.unscoped.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await work(trx);
    throw undo;
  });
  await run.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
}

/** Adds issues with the numbers from 1,000,001 on, the first of them each below the one before. */
async function addIssues(trx: UnscopedTrx, count: number, inChain: number): Promise<void> {
  const { rows } = await sql<{ column: string }>`
    select column_name as column from information_schema.columns
    where table_schema = current_schema() and table_name = 'issue' and is_generated = 'NEVER'`.execute(trx);
  const own: Readonly<Record<string, string>> = {
    id: `lpad(n::text, 32, '0')::uuid`,
    number: '1000000 + n',
    parent_issue_id: `case when n between 2 and ${inChain} then lpad((n - 1)::text, 32, '0')::uuid end`,
  };
  const columns = rows.map(({ column }) => column);
  await sql
    .raw(
      `insert into issue (${columns.join()})
       select ${columns.map((column) => own[column] ?? `i.${column}`).join()}
       from issue i, generate_series(1, ${count}) n where i.id = ${youngest}`,
    )
    .execute(trx);
}

async function ruleNamed(trx: UnscopedTrx, name: string) {
  const rule = (await selectRules(trx, ruleCodes)).find((one) => one.name === name);
  if (!rule) throw new Error(`There is no rule ${name}.`);
  return rule;
}

describe('workgraph verify', () => {
  it('finds nothing in the demo with an import in it', async () => {
    const { exitCode, stdout, stderr } = await inProcess(app, 'verify', []);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toMatch(/^\d{3} rules: all hold\n$/);
  });

  it('reports what is broken and where, as text and as JSON, and exits with 1', async () => {
    await sql`update team set member_count = 7 where code = 'BD'`.execute(app.database.unscoped);
    const words = await inProcess(app, 'verify', []);
    const json = await inProcess(app, 'verify', ['--json']);
    await sql`update team set member_count = 0 where code = 'BD'`.execute(app.database.unscoped);
    expect(words).toMatchObject({
      exitCode: 1,
      stdout:
        'BROKEN: member_count of a team is of its active members (1)\n  BD: member_count 7, counted 0\n',
    });
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      findings: [
        {
          rule: 'member_count of a team is of its active members',
          total: 1,
          rows: [{ workspaceId: expect.stringMatching(/^workspace_/), key: 'BD' }],
        },
      ],
    });
  });

  it('checks every file in the store on request, and names those that are missing or of another size', async () => {
    const none = await inProcess(app, 'verify', ['--files']);
    expect(none.stdout).toContain(`BROKEN: ${filesRule}`);
    const files = await selectUploadedFiles(app.database.unscoped, undefined, 1_000);
    for (const file of files) {
      await app.store.put(contentKey(file), bytesOfSize(file.sizeBytes), file.sizeBytes);
    }
    expect(await inProcess(app, 'verify', ['--files'])).toMatchObject({ exitCode: 0, stdout: '' });
    const [first] = files;
    if (!first) throw new Error('The demo has attachments.');
    await app.store.put(contentKey(first), bytesOfSize(3), 3);
    const cut = await inProcess(app, 'verify', ['--files']);
    expect(cut.exitCode).toBe(1);
    expect(cut.stdout).toContain(`${first.fileName}: the store has 3 bytes under`);
  });
});

describe('the rules of workgraph verify', () => {
  it('are all broken by some test below, except references', async () => {
    await undone(async (trx) => {
      const names = (await selectRules(trx, ruleCodes)).map(({ name }) => name);
      const ofReferences = names.filter((name) => / \(.+\) is in \w+$/.test(name));
      expect(names.filter((name) => !ofReferences.includes(name)).toSorted()).toEqual(
        Object.keys(breakages).toSorted(),
      );
    });
  });

  it.each(Object.entries(breakages))('find a violation of “%s”', async (name, [statement, key]) => {
    await undone(async (trx) => {
      const rule = await ruleNamed(trx, name);
      expect(await selectFaulty(trx, rule, 5)).toEqual({ total: 0, rows: [] });
      await sql.raw(statement).execute(trx);
      const { total, rows } = await selectFaulty(trx, rule, 5);
      expect(total).toBeGreaterThan(0);
      expect(rows[0]).toEqual({
        workspaceId: app.workspaceId,
        key: key ?? expect.stringMatching(/^\S+$|^\S+ \d+$/),
        detail: expect.stringMatching(/\w/),
      });
    });
  });

  it('find a cycle of 3,000 issues among 20,000, and none in a chain', async () => {
    await undone(async (trx) => {
      const rule = await ruleNamed(trx, 'no issue is a part of itself');
      await addIssues(trx, 20_000, 3_000);
      const startedMs = performance.now();
      expect(await selectFaulty(trx, rule, 5)).toEqual({ total: 0, rows: [] });
      await sql`update issue set parent_issue_id = (select id from issue where number = 1003000)
        where number = 1000001`.execute(trx);
      const { total, rows } = await selectFaulty(trx, rule, 5);
      // It takes well under a second; what reads all issues for each of the 3,000 takes a minute.
      expect(performance.now() - startedMs).toBeLessThan(15_000);
      expect([total, rows.length]).toEqual([3_000, 5]);
    });
  }, 300_000);

  it('find exactly the issues that are in a cycle', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { maxLength: 30 }), (parents) => {
        const all = [0, ...parents.map((parent) => (parent > parents.length ? 0 : parent))];
        const isInCycle = (start: number) => {
          let number = all[start] ?? 0;
          for (let step = 0; step < all.length && number !== start; step += 1) number = all[number] ?? 0;
          return number === start;
        };
        const expected = all.flatMap((_, number) => (number > 0 && isInCycle(number) ? [number] : []));
        expect(findCycles(Int32Array.from(all)).toSorted((one, other) => one - other)).toEqual(expected);
      }),
    );
  });

  it('treat the missing number of an old issue as that of a purged one', async () => {
    await undone(async (trx) => {
      const rule = await ruleNamed(trx, 'numbers of a team have no gaps, except those of purged issues');
      await sql`delete from issue where number = 2 and team_id <> (select id from team where code = 'BD')`.execute(
        trx,
      );
      expect(await selectFaulty(trx, rule, 5)).toEqual({ total: 0, rows: [] });
    });
  });

  it('find a dangling reference, for each reference of the catalog', async () => {
    await undone(async (trx) => {
      const references = await selectReferences(trx);
      // A change is in the inbox for some milliseconds only.
      await sql`
        insert into change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
        select workspace_id, id, event_type, occurred_utc, subject_id, origin from change limit 1`.execute(
        trx,
      );
      expect(references.length).toBeGreaterThan(80);
      for (const { table, columns, target } of references) {
        const column = columns.at(-1) ?? '';
        const rule = await ruleNamed(trx, `${table} (${columns.join(', ')}) is in ${target}`);
        await sql`savepoint whole`.execute(trx);
        await sql
          .raw(
            `update ${table} set ${column} = case when pg_typeof(${column}) = 'uuid'::regtype then gen_random_uuid()::text
               when pg_typeof(${column}) = 'text'::regtype then ${column}::text || 'x' else (${column}::text::int + 1)::text
             end::${await typeOf(trx, table, column)} where ctid = (select ctid from ${table} where ${column} is not null limit 1)`,
          )
          .execute(trx);
        const { total } = await selectFaulty(trx, rule, 5);
        expect(`${rule.name}: ${total}`).toBe(`${rule.name}: 1`);
        await sql`rollback to savepoint whole`.execute(trx);
      }
    });
  });

  it('cover every stored counter of the schema', async () => {
    await undone(async (trx) => {
      const { rows } = await sql<{ name: string }>`
        select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = current_schema() and (column_name ~ '_count$|^next_|_scope$|^closed_estimate$'
          or (table_name = 'issue' and column_name ~ '^last_'))`.execute(trx);
      const covered = (await selectRules(trx, ruleCodes)).flatMap(({ covers = [] }) => covers);
      const counters = rows.map(({ name }) => name);
      expect(counters.length).toBeGreaterThan(15);
      expect(counters.filter((name) => !covered.includes(name))).toEqual([]);
    });
  });

  it('check every uuid that is not a key of its own row', async () => {
    await undone(async (trx) => {
      const { rows } = await sql<{ name: string; column: string }>`
        select c.table_name || '.' || c.column_name as name from information_schema.columns c
          join information_schema.tables t using (table_schema, table_name)
        where table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.data_type = 'uuid'
          and c.column_name not in ('id', 'workspace_id')`.execute(trx);
      const followed = (await selectReferences(trx)).flatMap(({ table, columns }) =>
        columns.map((column) => `${table}.${column}`),
      );
      const known = new Set([...followed, ...Object.keys(pointingNowhere)]);
      expect(rows.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    });
  });
});

it('verify says after an interruption how far it came, and that a second run starts over', async () => {
  const stopped = new AbortController();
  stopped.abort();
  expect(await inProcess(app, 'verify', [], stopped.signal)).toEqual({
    exitCode: 130,
    stdout: '',
    stderr: 'Stopped after 0 rules; run the command again to start over.\n',
  });
});

async function typeOf(trx: UnscopedTrx, table: string, column: string): Promise<string> {
  const { rows } = await sql<{ type: string }>`
    select format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${table}::regclass and attname = ${column}`.execute(trx);
  return rows[0]?.type ?? 'text';
}

async function* bytesOfSize(size: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(size);
}
