import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { BorrowedConnection } from '../../src/db/engine/borrowed-connection.ts';
import { indexUseOf } from '../../src/db/query/walks/index-use.ts';
import { stepQuery } from '../../src/db/query/pages/bounded-page.ts';
import { always, type Predicate, type Through } from '../../src/db/query/conditions/predicate.ts';
import { pageQuery, pagesQuery } from '../../src/db/query/pages/page.ts';
import { defaultReadBudget, readBounds } from '../../src/db/query/read-bounds.ts';
import type { Order, Position, Source } from '../../src/db/query/walks/walk.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { selectPage } from '../../src/db/reads/pages.ts';
import '../../src/schema/index.ts';
import { ActivityEntry } from '../../src/schema/activity.ts';
import { planOf, rowsReadBy } from '../support/plans.ts';
import { copyTemplate } from '../support/templates.ts';
import { hasServer } from './engines.ts';

// The embedded engine makes similar plans, but the bounds below are guaranteed for large databases.
const onPostgres = hasServer ? describe : describe.skip;

const notDeleted: Source = { table: 'issue', where: { column: 'deletedUtc', isNull: true } };
const labels: Through = {
  table: 'issueLabel',
  parent: 'issueId',
  child: 'labelId',
  target: 'label',
  by: 'id',
  stored: 'labelIds',
};
const limit = 10;
const budget = 50;
/** No issue has such an estimate, and none of the orders below is that of the index of the estimates. */
const nothing: Predicate = { column: 'estimateValue', is: 'gte', value: 1_000_000 };
const bounds = readBounds(defaultReadBudget);

onPostgres('a deep page of an order with nulls', () => {
  let db: TenantDb;
  let connection: BorrowedConnection;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const copy = await copyTemplate('demo');
    drop = copy.drop;
    const { id } = await copy.database.unscoped
      .selectFrom('workspace')
      .select('id')
      .executeTakeFirstOrThrow();
    db = copy.database.of(id);
    connection = await copy.database.connect();
    // Without these settings, the planner would read the small table of the demo as a whole.
    await connection.query(
      'set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off',
      [],
    );
  });
  afterAll(async () => {
    connection.release();
    await drop();
  });

  const orders: readonly Order[] = (['asc', 'desc'] as const).flatMap((direction) => [
    { column: 'dueDate', kind: 'date', nullable: true, direction },
    { column: 'lastActivityUtc', kind: 'time', nullable: true, direction },
  ]);
  const cases = orders.flatMap((order) => [false, true].map((backward) => ({ order, backward })));

  it.each(cases)(
    'reads little more than its rows: $order.column $order.direction, backward $backward',
    async ({ order, backward }) => {
      const all = await rows(order);
      expect(all.length).toBeGreaterThan(300);
      const withValue = all.filter((row) => row[order.column] !== null).length;
      // In the middle of the rows with a value, at the last of them, and in the middle of those without a value.
      const offsets = [withValue / 2, withValue - 1, (withValue + all.length) / 2].map(Math.floor);
      for (const offset of offsets.filter((at) => at < all.length)) {
        const position = positionOf(order, all[offset]);
        const walk = { source: notDeleted, filter: always, order, backward };
        const page = { ...walk, ...(backward ? { before: position } : { after: position }) };
        const expected = backward
          ? all.slice(Math.max(0, offset - limit), offset)
          : all.slice(offset + 1, offset + 1 + limit);
        const { rows: found } = await selectPage(db, { ...page, limit }, bounds);
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        const query = pageQuery({ db, columns: ['id'] }, page, { exactly: limit });
        expect(rowsReadBy(await planOf(connection, query))).toBeLessThanOrEqual(2 * limit + 10);
      }
    },
  );

  it('a filter for issues without labels reads the label ids of issues, and not the join table', async () => {
    const none: Predicate = { not: { through: labels, own: 'id', where: always } };
    const [order] = orders as [Order];
    const walk = { source: notDeleted, filter: none, order, backward: false };
    const plan = await planOf(connection, pageQuery({ db, columns: ['id'] }, walk, { exactly: limit }));
    expect(rowsReadBy(plan, 'issue')).toBeGreaterThan(0);
    expect(rowsReadBy(plan, 'issue_label')).toBe(0);
  });

  it.each(cases)(
    'looks at a bounded number of rows for a filter that nothing matches: $order.column $order.direction, backward $backward',
    async ({ order, backward }) => {
      const walk = { source: notDeleted, filter: nothing, order, backward };
      const indexUse = indexUseOf(walk);
      expect(indexUse.isServed).toBe(false);
      const base = { db, columns: ['id'] };
      const query = stepQuery(base, { walk, indexUse }, { exactly: limit }, { read: 'walk', rows: budget });
      const [stopped, ...others] = await query.execute();
      expect(others).toEqual([]);
      // The stop is the row at the end of the budget.
      const all = backward ? (await rows(order)).reverse() : await rows(order);
      expect(stopped?.['stopId']).toBe(all[budget - 1]?.['id']);
      const plan = await planOf(connection, query);
      // The rows that the filter examines, and the index entries up to the stop.
      expect(rowsReadBy(plan)).toBeLessThanOrEqual(2 * budget);
      expect(rowsReadBy(plan)).toBeGreaterThanOrEqual(budget);
    },
  );

  async function rows(order: Order) {
    const all = { source: notDeleted, filter: always, order, backward: false, limit: 10_000 };
    const page = await selectPage(db, all, bounds);
    return page.rows;
  }

  function positionOf(order: Order, row: Record<string, unknown> | undefined): Position {
    const value = row?.[order.column] ?? null;
    return {
      value: value instanceof Date ? value.toISOString() : (value as string | null),
      id: String(row?.id),
    };
  }
});

it('a page of a long feed reads no more of it than it shows', async () => {
  const { database, drop } = await copyTemplate('demo');
  const { id } = await database.unscoped.selectFrom('workspace').select('id').executeTakeFirstOrThrow();
  const db = database.of(id);
  const { issueId } = await db.selectFrom('activity').select('issueId').limit(1).executeTakeFirstOrThrow();
  // The other feeds have one entry each, so PostgreSQL expects that this one has few, too.
  await sql`delete from activity where sort_order > 1`.execute(database.unscoped);
  await sql`insert into activity (workspace_id, issue_id, sort_order, id, event_type, actor_user_account_id, occurred_utc, text)
    select workspace_id, issue_id, 1000 + n, gen_random_uuid(), event_type, actor_user_account_id, occurred_utc, text
    from activity, generate_series(1, 300) n where issue_id = ${issueId} and sort_order = 1`.execute(
    database.unscoped,
  );
  await sql`analyze activity`.execute(database.unscoped);
  const connection = await database.connect();
  const source = { table: 'activity', where: always, parent: { column: 'issueId' } } as const;
  const order = { ...ActivityEntry.options.orders?.['SORT_ORDER'], direction: 'asc' } as Order;
  for (const backward of [false, true]) {
    const walk = { source, filter: always, order, backward };
    const query = pagesQuery({ db, columns: ['id'] }, walk, { exactly: limit }, [issueId]);
    expect(rowsReadBy(await planOf(connection, query), 'activity')).toBeLessThanOrEqual(limit + 1);
  }
  connection.release();
  await drop();
});

it('a page in the order of numbers counts the deleted issues that it examines', async () => {
  const { database, drop } = await copyTemplate('demo');
  const { id } = await database.unscoped.selectFrom('workspace').select('id').executeTakeFirstOrThrow();
  const db = database.of(id);
  const [first] = await db.selectFrom('issue').select('teamId').orderBy('createdUtc').limit(1).execute();
  const teamId = first?.teamId ?? '';
  const order: Order = { column: 'number', kind: 'int', nullable: false, direction: 'asc' };
  const issues = db.selectFrom('issue').select('id').where('teamId', '=', teamId).orderBy('number');
  const ids = (await issues.execute()).map((issue) => issue.id);
  await db
    .updateTable('issue')
    .set({ deletedUtc: new Date() })
    .where('id', 'in', ids.slice(0, budget + 10))
    .execute();
  const ofTeam: Predicate = { column: 'teamId', is: 'eq', value: teamId };
  for (const { source, filter, keys } of [
    { source: { ...notDeleted, parent: { column: 'teamId' } }, filter: always, keys: [teamId] },
    { source: notDeleted, filter: ofTeam, keys: undefined },
  ]) {
    const walk = { source, filter, order, backward: false };
    const step = { read: 'walk', rows: budget } as const;
    const base = { db, columns: ['id'] };
    const planned = { walk, indexUse: indexUseOf(walk) };
    // The index has no ids, so each row is read once more to find the stop.
    expect(planned.indexUse.weight).toBe(2);
    const rows = await stepQuery(base, planned, { exactly: limit }, step, keys).execute();
    expect(rows.map(({ stopId }) => stopId)).toEqual([ids[budget - 1]]);
    const after = { value: budget, id: ids[budget - 1] ?? '' };
    const next = await stepQuery(
      base,
      { ...planned, walk: { ...walk, after } },
      { exactly: limit },
      step,
      keys,
    ).execute();
    expect(next.map((row) => row['id'])).toEqual(ids.slice(budget + 10, budget + 10 + limit));
  }
  await drop();
});
