import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { oldChanges } from '../../src/resolvers/housekeeping.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate } from '../support/templates.ts';
import { numberAllChanges } from './logged.ts';

const dayMs = 24 * 60 * 60_000;

it('old changes are removed, and the log records its new start', async () => {
  const { database, drop } = await copyTemplate('demo');
  const { id: workspaceId } = await database.unscoped
    .selectFrom('workspace')
    .select('id')
    .executeTakeFirstOrThrow();
  await numberAllChanges(database);
  const log = database.of(workspaceId);
  const head = () => log.selectFrom('changeHead').select(['oldest', 'position']).executeTakeFirstOrThrow();
  const { position } = await head();
  const now = new Date();
  await sql`update change set occurred_utc = ${new Date(now.getTime() - 8 * dayMs)} where position <= 10`.execute(
    database.unscoped,
  );
  const chore = oldChanges(database, 7);
  expect(await chore.doSome(now)).toBe(9);
  expect(await chore.doSome(now)).toBe(0);
  expect(await head()).toEqual({ oldest: 11, position });
  const later = new Date(now.getTime() + 30 * dayMs);
  expect(await chore.doSome(later)).toBe(position - 10);
  expect(await head()).toEqual({ oldest: position + 1, position });
  expect(await chore.doSome(later)).toBe(0);
  expect(await brokenInvariants(database)).toEqual({});
  await drop();
});
