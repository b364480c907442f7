import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { contentKey, selectUploadedFiles } from '../../src/db/attachments.ts';
import { onStatement } from '../../src/db/engine/meter.ts';
import type { UnscopedTrx } from '../../src/db/engine/transaction.ts';
import { findCycles } from '../../src/db/verify/cycles.ts';
import { foldRules } from '../../src/db/verify/fold-rules.ts';
import { type FaultyRows, selectFaulty, selectRules } from '../../src/db/verify/check.ts';
import { uncheckedReferences, selectReferences } from '../../src/db/verify/references.ts';
import type { Rule } from '../../src/db/verify/rule.ts';
import { fold } from '../../src/model/fold.ts';
import { ruleCodes } from '../../src/portability/verify.ts';
import { filesRule } from '../../src/portability/verify-files.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { fillEveryTable } from '../support/full-workspace.ts';
import { bytesOf, storeUploadedFiles } from '../support/uploaded-files.ts';
import { breakages, youngest } from './verify-breakages.ts';
import { inProcess } from './workgraph.ts';

let app: App;

beforeAll(async () => {
  app = await startApp({ demo: true });
  await fillEveryTable(app);
});

afterAll(() => app.stop());

/** Runs in a transaction that is undone, with foreign keys and triggers disabled. */
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
    expect(await inProcess(app, 'verify', ['--workspace', 'Halyard & Tern'])).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
  });

  it('reports what is broken and where, as text and as JSON, and exits with 1', async () => {
    await sql`update team set member_count = 7 where code = 'BD'`.execute(app.database.unscoped);
    const words = await inProcess(app, 'verify', []);
    const json = await inProcess(app, 'verify', ['--json']);
    const { workspaceId } = await app.secondWorkspace();
    const other = await inProcess(app, 'verify', ['--workspace', encodeId('workspace', workspaceId)]);
    await sql`update team set member_count = 0 where code = 'BD'`.execute(app.database.unscoped);
    expect(words).toMatchObject({
      exitCode: 1,
      stdout:
        'BROKEN: member_count of a team is the number of its active members (1)\n  BD: member_count 7, counted 0\n',
    });
    expect(other).toMatchObject({ exitCode: 0, stdout: '' });
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      findings: [
        {
          rule: 'member_count of a team is the number of its active members',
          total: 1,
          rows: [{ workspaceId: expect.stringMatching(/^workspace_/), key: 'BD' }],
        },
      ],
    });
  });

  it.each(['abc', '-5', '0', '2.5', '10001'])('refuses --limit %s', async (limit) => {
    expect(await inProcess(app, 'verify', [`--limit=${limit}`])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('--limit must be a whole number from 1 to 10000.'),
    });
  });

  it('checks every file in the store on request, and names those that are missing or of another size', async () => {
    const none = await inProcess(app, 'verify', ['--files']);
    expect(none.stdout).toContain(`BROKEN: ${filesRule}`);
    const files = await selectUploadedFiles(app.database.unscoped, undefined, 1_000);
    await storeUploadedFiles(app.database, app.store);
    expect(await inProcess(app, 'verify', ['--files'])).toMatchObject({ exitCode: 0, stdout: '' });
    const [first] = files;
    if (!first) throw new Error('The demo has attachments.');
    await app.store.put(contentKey(first), bytesOf('cut', 3), 3);
    const cut = await inProcess(app, 'verify', ['--files']);
    expect(cut.exitCode).toBe(1);
    expect(cut.stdout).toContain(`${first.fileName}: the store has 3 bytes under`);
  });
});

describe('the rules of workgraph verify', () => {
  it('are all broken by some test below', async () => {
    await undone(async (trx) => {
      const names = (await selectRules(trx, ruleCodes)).map(({ name }) => name);
      const ofReferences = names.filter((name) => / \(.+\) is in \w+$/.test(name));
      const derived = [...ofReferences, ...(await foldRules(trx)).map(({ name }) => name)];
      expect(names.filter((name) => !derived.includes(name)).toSorted()).toEqual(
        Object.keys(breakages).toSorted(),
      );
    });
  });

  it.each(Object.entries(breakages))('find a violation of “%s”', async (name, [statement, key]) => {
    await undone(async (trx) => {
      const rule = await ruleNamed(trx, name);
      expect(await faultyRows(trx, rule)).toEqual({ total: 0, rows: [] });
      await sql.raw(statement).execute(trx);
      const { total, rows } = await faultyRows(trx, rule);
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
      const rule = await ruleNamed(trx, 'no issue is its own ancestor');
      await addIssues(trx, 20_000, 3_000);
      const startedMs = performance.now();
      expect(await faultyRows(trx, rule)).toEqual({ total: 0, rows: [] });
      await sql`update issue set parent_issue_id = (select id from issue where number = 1003000)
        where number = 1000001`.execute(trx);
      const { total, rows } = await faultyRows(trx, rule);
      // It takes well under a second; what reads all issues for each of the 3,000 takes a minute.
      expect(performance.now() - startedMs).toBeLessThan(15_000);
      expect([total, rows.length]).toEqual([3_000, 5]);
    });
  });

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
      expect(await faultyRows(trx, rule)).toEqual({ total: 0, rows: [] });
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
        const { total } = await faultyRows(trx, rule);
        expect(`${rule.name}: ${total}`).toBe(`${rule.name}: 1`);
        await sql`rollback to savepoint whole`.execute(trx);
      }
    });
  });

  it.each(['Été', 'Plain'])(
    'find a wrong copy of a folded text like %j, for each of the catalog',
    async (text) => {
      await undone(async (trx) => {
        const rules = await foldRules(trx);
        expect(rules.length).toBeGreaterThan(8);
        for (const rule of rules) {
          const [table = '', folded = ''] = rule.covers?.[0]?.split('.') ?? [];
          await sql`savepoint whole`.execute(trx);
          expect(await faultyRows(trx, rule)).toEqual({ total: 0, rows: [] });
          const set = (copy: string) =>
            sql
              .raw(
                `update ${table} set ${folded.replace(/_fold$/, '')} = '${text}', ${folded} = '${copy}'
               where (workspace_id, id) = (select workspace_id, id from ${table} order by id limit 1)`,
              )
              .execute(trx);
          await set(fold(text));
          expect([rule.name, await faultyRows(trx, rule)]).toEqual([rule.name, { total: 0, rows: [] }]);
          await set(text);
          const { total, rows } = await faultyRows(trx, rule);
          expect([rule.name, total, rows[0]?.detail]).toEqual([
            rule.name,
            1,
            `${folded} '${text}', ${folded.replace(/_fold$/, '')} '${text}'`,
          ]);
          await sql`rollback to savepoint whole`.execute(trx);
        }
      });
    },
  );

  it('find wrong copies in every slice of the texts that the database cannot fold', async () => {
    await undone(async (trx) => {
      const rule = await ruleNamed(trx, 'title_fold of issue is its title in folded form');
      await addIssues(trx, 12_000, 0);
      await sql`update issue set title = 'É ' || number, title_fold = 'e ' || number where number > 1000000`.execute(
        trx,
      );
      expect(await faultyRows(trx, rule)).toEqual({ total: 0, rows: [] });
      await sql`update issue set title_fold = 'é' where number in (1000001, 1006000, 1012000)`.execute(trx);
      expect(await faultyRows(trx, rule)).toMatchObject({ total: 3 });
    });
  });

  it('count all wrong copies, and name only the first in their statement', async () => {
    await undone(async (trx) => {
      const rule = await ruleNamed(trx, 'title_fold of issue is its title in folded form');
      await addIssues(trx, 1_000, 0);
      await sql`update issue set title = 'É', title_fold = 'É' where number > 1000000`.execute(trx);
      await sql`update issue set title = 'E', title_fold = 'E' where number > 1000900`.execute(trx);
      const { total, rows } = await faultyRows(trx, rule);
      expect([total, rows.map(({ key }) => Number(key.slice(-12)))]).toEqual([1_000, [1, 2, 3, 4, 5]]);
      const sent: string[] = [];
      const stop = onStatement((statement) => void sent.push(statement.sql));
      await selectFaulty(trx, rule, 5, 'all');
      stop();
      expect(sent.length).toBeGreaterThan(0);
      expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(2_000);
    });
  });

  it('cover every stored counter and copy of the schema', async () => {
    await undone(async (trx) => {
      const { rows } = await sql<{ name: string }>`
        select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = current_schema() and (column_name ~ '_count$|^next_|_scope$|^closed_estimate$|_fold$'
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
      const known = new Set([...followed, ...Object.keys(uncheckedReferences)]);
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

/** The rows that a check of all rows finds. If it finds any, a check of one workspace after the other must find the same. */
async function faultyRows(trx: UnscopedTrx, rule: Rule): Promise<FaultyRows> {
  const found = await selectFaulty(trx, rule, 5, 'all');
  if (found.total === 0) return found;
  const { rows } = await sql<{ id: string }>`select workspace_id as id from workspace order by 1`.execute(
    trx,
  );
  const workspaceIds = rows.map(({ id }) => id);
  expect(await selectFaulty(trx, rule, 5, workspaceIds)).toEqual(found);
  return found;
}

async function typeOf(trx: UnscopedTrx, table: string, column: string): Promise<string> {
  const { rows } = await sql<{ type: string }>`
    select format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${table}::regclass and attname = ${column}`.execute(trx);
  return rows[0]?.type ?? 'text';
}
