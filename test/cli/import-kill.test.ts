import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { bead, childOf, exported, type ImportWorld, importWorld } from './import-world.ts';
import { urlOf } from '../db/engines.ts';

const total = 600;
const workspace = 'Killed';

let testDatabase: TestDatabase;
/** Only one process can open an embedded database, so it is closed here while the child imports, and opened again. */
let database: Database;

beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
  database = testDatabase.database;
});

afterAll(async () => {
  await database.close();
  // `drop` closes only the handle that `copyTemplate` returned, which is another one after the database was opened again.
  await testDatabase.drop();
});

/** Issues with labels and comments. Some are sub-issues of an issue that comes later in the file. */
function manyBeads(): Record<string, unknown>[] {
  return Array.from({ length: total }, (_, index) => {
    const id = `k-${index}`;
    const parent = index % 3 === 0 ? `k-${(index + 150) % total}` : undefined;
    return bead(id, {
      labels: [`l-${index % 7}`],
      comments: [{ id: index, author: `p-${index % 11}`, text: 'said', created_at: '2025-11-04T00:00:00Z' }],
      ...(parent && index + 150 < total && childOf(id, parent)),
    });
  });
}

it('a killed import leaves no incomplete issue, and a second run completes it', async () => {
  const world = await importWorld(database, workspace);
  const file = world.write('many.jsonl', manyBeads());
  const location = await locationOf();
  for (const seen of [100, 350]) {
    if (database.engine === 'embedded') await database.close();
    await killAfter(seen, [location, file, workspace]);
    database =
      database.engine === 'embedded' ? await openDatabase({ dataDir: testDatabase.dataDir }) : database;
    expect(await brokenInvariants(database)).toEqual({});
    expect(await halfImported(world.workspaceId)).toEqual({ labels: 0, comments: 0, sources: 0, numbers: 0 });
    const imported = await countIssues(world.workspaceId);
    expect(imported).toBeGreaterThan(0);
    expect(imported).toBeLessThan(total);
  }
  const reopened: ImportWorld = await importWorld(database, workspace);
  reopened.write('many.jsonl', manyBeads());
  const { exitCode, summary } = await reopened.beads('many.jsonl', { workspace });
  expect(exitCode).toBe(0);
  expect(summary.created + summary.unchanged).toBe(total);
  expect(await brokenInvariants(database)).toEqual({});

  const untouched = await importWorld(database, 'Untouched');
  untouched.write('many.jsonl', manyBeads());
  await untouched.beads('many.jsonl');
  const [killed, whole] = [await exported(reopened, workspace), await exported(untouched, 'Untouched')];
  expect(killed.slice(1).map(withoutIds)).toEqual(whole.slice(1).map(withoutIds));
  for (const each of [world, reopened, untouched]) each.remove();
});

async function locationOf(): Promise<string> {
  if (database.engine === 'embedded') return testDatabase.dataDir;
  return urlOf(database);
}

/** Runs the import in a process of its own and kills it once it has reported that number of imported issues. */
async function killAfter(seen: number, args: string[]): Promise<void> {
  const script = join(import.meta.dirname, 'import-child.ts');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (text: Buffer) => {
    output = (output + text.toString()).slice(-500);
    const counts = [...output.matchAll(/(\d+) issues/g)].map(([, count]) => Number(count));
    if (Math.max(0, ...counts) >= seen) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect({ signal, output }).toMatchObject({ signal: 'SIGKILL' });
}

/** Issues that lack a part from the file, and gaps in the numbers. */
async function halfImported(workspaceId: string): Promise<Record<string, number>> {
  const lacking = (table: string, column: string) => sql<number>`(
    select count(*)::int from issue i where i.workspace_id = ${workspaceId} and not exists (
      select 1 from ${sql.table(table)} t where t.workspace_id = i.workspace_id and t.${sql.ref(column)} = i.id))`;
  const { rows } = await sql<Record<string, number>>`select
    ${lacking('issue_label', 'issue_id')} as labels, ${lacking('comment', 'issue_id')} as comments,
    ${lacking('import_source', 'target_id')} as sources,
    (select (max(number) - count(*))::int from issue where workspace_id = ${workspaceId}) as numbers`.execute(
    database.unscoped,
  );
  return { ...rows[0] };
}

async function countIssues(workspaceId: string): Promise<number> {
  const { count } = await database.unscoped
    .selectFrom('issue')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return count;
}

/** The content without ids, which are the only difference between two imports of one file. */
function withoutIds({ id: _, comments, ...issue }: Record<string, unknown>): unknown {
  return {
    ...issue,
    comments: (comments as Record<string, unknown>[]).map(({ id: __, ...comment }) => comment),
  };
}
