import { CompiledQuery } from 'kysely';
import type { Database } from '../../../src/db/engine/engine.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import type { World } from './world.ts';

/** The acknowledged writes, all of which must be found later. */
export class Ledger {
  /** The last acknowledged descriptions of issues, by their titles, which are unique. */
  readonly issues = new Map<string, string>();
  /** The titles of the issues of comments, by their bodies, which are unique. */
  readonly comments = new Map<string, string>();
  /** The number of entries that the feed of an issue must have, by its title. */
  readonly entries = new Map<string, number>();
  acknowledged = 0;

  noteEntry(title: string): void {
    this.entries.set(title, (this.entries.get(title) ?? 0) + 1);
  }

  /**
   * Describes everything that is lost, duplicated or broken. Every write must have been
   * acknowledged by now, because one with an unknown result could be either.
   */
  async check(database: Database, { workspaceId }: World): Promise<string[]> {
    const wrong: string[] = [];
    const issues = await rowsOf<{ title: string; description: string; entries: number }>(
      database,
      `select title, description, (select count(*)::int from activity a
        where (a.workspace_id, a.issue_id) = (i.workspace_id, i.id)) as entries from issue i where workspace_id = $1`,
      workspaceId,
    );
    const found = tally(wrong, 'issue', issues, ({ title }) => title, this.issues);
    for (const [title, description] of this.issues) {
      const row = found.get(title);
      if (!row) continue;
      if (row.description !== description) wrong.push(`lost: the last change of issue ${title}`);
      const expected = this.entries.get(title) ?? 0;
      if (row.entries !== expected)
        wrong.push(`the feed of ${title} has ${row.entries} entries, not ${expected}`);
    }
    const bodies = 'select body from comment where workspace_id = $1';
    const comments = await rowsOf<{ body: string }>(database, bodies, workspaceId);
    tally(wrong, 'comment', comments, ({ body }) => body, this.comments);
    const broken = await brokenInvariants(database);
    for (const [rule, ids] of Object.entries(broken)) wrong.push(`broken: ${rule} (${ids.join(', ')})`);
    return wrong;
  }
}

function tally<Row>(
  wrong: string[],
  kind: string,
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  expected: ReadonlyMap<string, string>,
): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const row of rows) {
    const name = nameOf(row);
    if (found.has(name)) wrong.push(`doubled: ${kind} ${name}`);
    else if (!expected.has(name)) wrong.push(`never acknowledged: ${kind} ${name}`);
    found.set(name, row);
  }
  for (const name of expected.keys()) if (!found.has(name)) wrong.push(`lost: ${kind} ${name}`);
  return found;
}

async function rowsOf<Row>({ unscoped }: Database, statement: string, workspaceId: string): Promise<Row[]> {
  return (await unscoped.executeQuery<Row>(CompiledQuery.raw(statement, [workspaceId]))).rows;
}
