import { type Insertable, type Kysely, sql } from 'kysely';
import { Random } from '../support/random.ts';
import { recountTallies } from '../../src/db/issue-tallies.ts';
import type { TableName, Tables } from '../../src/db/tables/tables.ts';
import { type Fixture, type FixtureRows, fixtureTables } from './fixture.ts';
import { addDirectories } from './fixture-directories.ts';
import { addIssues } from './fixture-issues.ts';
import { addWebhooks } from './fixture-webhooks.ts';

/** Makes the rows of a workspace, which the seed determines. An account may be shared between workspaces. */
export function makeFixture(seed: string, nowMs: number, sharedAccountId?: string): Fixture {
  const random = new Random(seed);
  let ticks = 0;
  const uuid = () => {
    ticks += 1;
    return random.uuid(nowMs - 1_000_000 + ticks);
  };
  const workspaceId = uuid();
  const rows = Object.fromEntries(fixtureTables.map((table) => [table, []])) as unknown as FixtureRows;
  const fixture: Fixture = { workspaceId, nowMs, random, rows, uuid };
  rows.workspace.push({ workspaceId, name: `Workspace of ${seed}` });
  addDirectories(fixture, sharedAccountId);
  addIssues(fixture);
  addWebhooks(fixture);
  return fixture;
}

/** Inserts the rows, beside any other workspaces. */
export async function insertFixture(unscoped: Kysely<Tables>, { rows, workspaceId }: Fixture): Promise<void> {
  await unscoped.transaction().execute(async (transaction) => {
    for (const table of fixtureTables) {
      const values = rows[table] as Insertable<Tables[TableName]>[];
      if (values.length === 0) continue;
      const insert = transaction.insertInto(table).values(values);
      await (table === 'userAccount'
        ? insert.onConflict((conflict) => conflict.doNothing())
        : insert
      ).execute();
    }
  });
  await recountTallies(unscoped, workspaceId);
  // Autovacuum would do this later; without statistics, the planner takes every table for empty.
  await sql`analyze`.execute(unscoped);
}
