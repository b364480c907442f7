import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import { numberChanges } from '../../src/db/changes.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { transactionTarget, inTransaction } from '../../src/db/engine/transaction.ts';
import { Sequencer } from '../../src/live/sequencer.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { copyTemplate } from '../support/templates.ts';
import { hasServer } from '../db/engines.ts';

let database: Database;
let drop: () => Promise<unknown>;

beforeAll(async () => {
  ({ database, drop } = await copyTemplate('migrated'));
});
afterAll(() => drop());

// Intervals do not run, so that no periodic search hides that the sequencer has missed a change.
beforeEach(() => {
  jest.spyOn(globalThis, 'setInterval').mockImplementation(() => setTimeout(() => undefined, 0).unref());
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Appends changes without waking the sequencer of this process: it recognizes only statements in lower case. */
async function append(workspaceId: string, count: number): Promise<void> {
  for (let appended = 0; appended < count; appended += 1) {
    await sql`
      INSERT INTO change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
      VALUES (${workspaceId}, ${newUuid()}, 'import.finished.v1', now(), ${workspaceId}, 2)`.execute(
      database.unscoped,
    );
  }
}

async function positionsOf(workspaceId: string): Promise<number[]> {
  const rows = await database
    .of(workspaceId)
    .selectFrom('change')
    .select('position')
    .orderBy('position')
    .execute();
  return rows.map(({ position }) => position);
}

it('the sequencer runs again for a write that commits during a run', async () => {
  const [first, second] = [newUuid(), newUuid()];
  const { promise: hasSearched, resolve: markSearched } = Promise.withResolvers<void>();
  const { promise: isNumbered, resolve: markNumbered } = Promise.withResolvers<void>();
  const sequencer = new Sequencer({
    database,
    onSearched: () => markSearched(),
    // This is called during the run.
    onNumbered: (workspaceId) => {
      if (workspaceId === first) sequencer.wake(second);
      else markNumbered();
    },
    logger: console,
  });
  await hasSearched;
  await append(first, 1);
  await append(second, 1);
  sequencer.wake(first);
  await isNumbered;
  await sequencer.close();
  expect(await positionsOf(second)).toEqual([1]);
});

it('the sequencer gives the positions of a run that was rolled back to the same changes again', async () => {
  const workspaceId = newUuid();
  const db = database.of(workspaceId);
  await append(workspaceId, 3);
  const rolledBack = inTransaction(db, async (trx) => {
    expect(await numberChanges(transactionTarget(trx), 1)).toMatchObject({ count: 3, position: 3 });
    throw new Error('undone');
  });
  await expect(rolledBack).rejects.toThrow('undone');
  const connect = () => database.connect();
  expect(await numberChanges({ db, connect }, 2)).toMatchObject({ hasLock: true, count: 3, position: 3 });
  expect(await positionsOf(workspaceId)).toEqual([1, 2, 3]);
});

const onPostgres = hasServer ? it : it.skip;

onPostgres(
  'the sequencer leaves the changes of a workspace to the run that holds it, and does not wait for it',
  async () => {
    const workspaceId = newUuid();
    const db = database.of(workspaceId);
    const connect = () => database.connect();
    await append(workspaceId, 3);
    await inTransaction(db, async (trx) => {
      await numberChanges(transactionTarget(trx), 1);
      expect(await numberChanges({ db, connect }, 2)).toMatchObject({
        hasLock: false,
        count: 0,
        position: null,
      });
    });
    expect(await positionsOf(workspaceId)).toEqual([1, 2, 3]);
  },
);
