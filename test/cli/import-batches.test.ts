import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { lockParents } from '../../src/db/reads/issue-tree.ts';
import { inTransaction } from '../../src/db/engine/transaction.ts';
import { BatchSize } from '../../src/portability/import/batch-size.ts';
import { hasServer } from '../db/engines.ts';
import { untilLockWaits } from '../support/while-locked.ts';
import { bead, useImportWorld } from './import-world.ts';

const suite = useImportWorld();

// The embedded engine has one connection, so nothing else runs during a batch.
const onPostgres = hasServer ? it : it.skip;
onPostgres('the look-ups of an import hold up no change of a parent', async () => {
  const { database, world } = suite;
  const file = world.write('a.jsonl', [bead('a', { labels: ['held'] })]);
  let importing: ReturnType<typeof world.beads> | undefined;
  await database.unscoped.transaction().execute(async (holder) => {
    await sql`
      insert into label (workspace_id, id, team_id, name, name_fold)
      select workspace_id, gen_random_uuid(), id, 'held', 'held' from team where workspace_id = ${world.workspaceId}`.execute(
      holder,
    );
    importing = world.beads(file);
    await untilLockWaits(database, 1);
    await inTransaction(database.of(world.workspaceId), async (trx) => {
      await sql`set local lock_timeout = '1s'`.execute(trx);
      await lockParents(trx, 'shared');
    });
    await sql`delete from label where workspace_id = ${world.workspaceId}`.execute(holder);
  });
  const result = await importing;
  expect(result?.summary).toMatchObject({ created: 1, labels: 1, refused: 0 });
});

it('a batch has fewer issues the longer the last one took, within bounds', () => {
  const size = new BatchSize();
  expect(size.issues).toBe(100);
  size.took(100, 400);
  expect(size.issues).toBe(50);
  size.took(50, 5_000);
  expect(size.issues).toBe(20);
  size.took(20, 50);
  expect(size.issues).toBe(80);
  size.took(80, 20);
  expect(size.issues).toBe(100);
});

it('an import updates statistics only when the number of issues has grown much', async () => {
  const { database, world } = suite;
  const imported = (prefix: string, count: number) =>
    world.beads(
      world.write(
        'a.jsonl',
        Array.from({ length: count }, (_, index) => bead(`${prefix}${index}`)),
      ),
    );
  const counted = async () => {
    const { rows } = await sql<{ issues: number }>`
      select reltuples::int as issues from pg_class where oid = 'issue'::regclass`.execute(database.unscoped);
    return rows[0]?.issues;
  };
  await sql`analyze issue`.execute(database.unscoped);
  const before = (await counted()) ?? 0;
  await imported('a', 150);
  expect(await counted()).toBe(before + 150);
  await sql`update pg_class set reltuples = 5000 where oid = 'issue'::regclass`.execute(database.unscoped);
  await imported('b', 150);
  expect(await counted()).toBe(5000);
});
