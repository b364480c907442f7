import { describe, expect, it } from '@jest/globals';
import { writeEvent } from '../../src/resolvers/activity.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { changeIssues } from '../../src/db/writes/issue-change.ts';
import { planOfExplain, type Plan } from '../support/plans.ts';
import { copyTemplate } from '../support/templates.ts';
import { hasServer } from './engines.ts';

// Only PostgreSQL keeps prepared statements on a connection.
const onPostgres = hasServer ? describe : describe.skip;

onPostgres('a statement that changes issues', () => {
  it.each([
    [1, ['title']],
    [2, ['title']],
    [8, ['title']],
    [1, ['estimateValue', 'priority']],
  ] as const)('gets a generic plan for %i issues of which it sets %j', async (count, columns) => {
    const { database, drop } = await copyTemplate('demo');
    const { id: workspaceId } = await database.unscoped
      .selectFrom('workspace')
      .select('id')
      .executeTakeFirstOrThrow();
    const db = database.of(workspaceId);
    const ids = await db
      .selectFrom('issue')
      .select('id')
      .where('deletedUtc', 'is', null)
      .limit(count)
      .execute();
    const connection = await database.connect();
    const connect = () => Promise.resolve(connection.withoutRelease());
    const form = { kind: 'revision', named: 'id', columns, wait: true } as const;
    for (let time = 0; time < 20; time += 1) {
      const changes = ids.map(({ id }) => ({
        issue: { id },
        set: { title: `Time ${time}`, estimateValue: time, priority: time % 5 },
        event: { id: newUuid(), actor: null },
      }));
      const changed = await changeIssues({ db, connect }, form, changes, writeEvent('issue.updated.v1'));
      expect(changed).toHaveLength(count);
    }
    const { rows } = await connection.query<{ generic: string; custom: string; name: string; slots: number }>(
      `select generic_plans generic, custom_plans custom, name, cardinality(parameter_types) slots
       from pg_prepared_statements where statement like '%update "issue"%'`,
      [],
    );
    const [prepared] = rows;
    const nulls = Array.from({ length: prepared?.slots ?? 0 }, () => 'null').join(', ');
    const plan = await planOfExplain(
      connection,
      `explain (format json) execute "${prepared?.name}"(${nulls})`,
    );
    connection.release();
    await drop();
    // PostgreSQL makes five custom plans before it considers a generic plan.
    expect(rows.map(({ custom }) => Number(custom))).toEqual([5]);
    expect(Number(rows[0]?.generic)).toBeGreaterThan(10);
    expect(joinedParts(plan)).toEqual([]);
  });
});

/**
 * The parts of a statement that its plan joins with each other. PostgreSQL estimates one row for each part, so it would compare
 * each row of one with all of the other: 4,000,000 comparisons for 2,000 issues.
 */
function joinedParts(plan: Plan | undefined): string[] {
  const below = plan?.Plans ?? [];
  const parts = below.flatMap(({ 'CTE Name': name }) => name ?? []);
  const isJoin = plan?.['Node Type'] === 'Nested Loop' || plan?.['Node Type'].endsWith('Join');
  return [...(isJoin && parts.length > 1 ? [parts.join(' and ')] : []), ...below.flatMap(joinedParts)];
}
