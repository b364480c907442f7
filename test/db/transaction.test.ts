import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { BorrowedConnection } from '../../src/db/engine/borrowed-connection.ts';
import type { ConnectedTarget } from '../../src/db/engine/statement-target.ts';
import { inSnapshot, inTransaction } from '../../src/db/engine/transaction.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
});

afterAll(() => testDatabase.drop());

/** Runs a transaction that fails a number of times with an SQLSTATE. Returns how often it ran, and the outcome. */
const workspaceId = '01890000-0000-7000-8000-000000000002';

async function run(state: string, failures: number): Promise<{ runs: number; through: boolean }> {
  let runs = 0;
  const work = async () => {
    runs += 1;
    if (runs <= failures) throw Object.assign(new Error('lost'), { code: state });
  };
  const through = await inTransaction(testDatabase.database.of(workspaceId), work).then(
    () => true,
    () => false,
  );
  return { runs, through };
}

it.each([
  ['40001', 3, { runs: 4, through: true }],
  ['40P01', 3, { runs: 4, through: true }],
  ['40001', 4, { runs: 4, through: false }],
  ['23503', 1, { runs: 2, through: true }],
  ['23503', 2, { runs: 2, through: false }],
  ['23505', 1, { runs: 1, through: false }],
])(
  'a transaction is retried after %s, a limited number of times: %i failures',
  async (state, failures, outcome) => {
    expect(await run(state, failures)).toEqual(outcome);
  },
);

it('a retried transaction leaves no rows of a failed attempt', async () => {
  const { unscoped } = testDatabase.database;
  const id = '01890000-0000-7000-8000-000000000001';
  let runs = 0;
  await inTransaction(testDatabase.database.of(workspaceId), async (trx) => {
    runs += 1;
    // This would violate the primary key if the first attempt had left its row.
    await trx.insertInto('userAccount').values({ id }).execute();
    if (runs === 1) throw Object.assign(new Error('lost'), { code: '40P01' });
  });
  expect(await unscoped.selectFrom('userAccount').select('id').where('id', '=', id).execute()).toHaveLength(
    1,
  );
});

it('a snapshot lends its connection only until its work has ended', async () => {
  const { database } = testDatabase;
  const connected = { db: database.of(workspaceId), connect: () => database.connect() };
  const inside = await inSnapshot(connected, async (inner) => {
    await sql`select 1`.execute(inner.db);
    return inner;
  });
  await expect(inside.connect()).rejects.toThrow('The snapshot has ended.');
  await expect(sql`select 1`.execute(inside.db)).rejects.toThrow('The snapshot has ended.');
  await sql`select 1`.execute(connected.db);
});

it('a snapshot takes one connection, for its first read, and gives it back', async () => {
  const { database } = testDatabase;
  const lent: BorrowedConnection[] = [];
  let released = 0;
  const connect = async () => {
    const connection = await database.connect();
    const giveBack = connection.release.bind(connection);
    const release = () => {
      released += 1;
      giveBack();
    };
    lent.push(connection);
    return Object.assign(connection, { release });
  };
  const connected = { db: database.of(workspaceId), connect };
  const read = (inside: ConnectedTarget) => sql`select 1`.execute(inside.db);
  expect(await inSnapshot(connected, () => Promise.resolve('nothing to read'))).toBe('nothing to read');
  expect(lent).toHaveLength(0);
  await inSnapshot(connected, (inside) => Promise.all([read(inside), read(inside), inside.connect()]));
  expect(lent).toHaveLength(1);
  await expect(inSnapshot(connected, ({ db }) => sql`select 1 / 0`.execute(db))).rejects.toThrow('zero');
  expect([lent.length, released]).toEqual([2, 2]);
});

it('a snapshot whose work ends before it has a connection gives that back', async () => {
  const { database } = testDatabase;
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  const connect = () => isFree.then(() => database.connect());
  let late: Promise<string> | undefined;
  const refused = inSnapshot({ db: database.of(workspaceId), connect }, (inside) => {
    late = inside.connect().then(() => 'lent', String);
    return Promise.reject(new Error('refused'));
  });
  free();
  await expect(refused).rejects.toThrow('refused');
  expect(await late).toBe('Error: The snapshot has ended.');
  expect(database.load()).toMatchObject({ waiting: 0 });
  await sql`select 1`.execute(database.unscoped);
});
