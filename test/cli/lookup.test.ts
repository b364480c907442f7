import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findMember, findOwner } from '../../src/cli/lookup.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { member } from '../support/fixtures.ts';
import { copyTemplate } from '../support/templates.ts';

let db: TenantDb;
let owner: { id: string; account: string };
let end: () => Promise<void>;
beforeAll(async () => {
  const { database, drop } = await copyTemplate('migrated');
  end = drop;
  const created = await createWorkspace(database, systemActor, {
    name: 'Acme',
    ownerDisplayName: 'Ada',
    ownerEmailAddress: 'ada@example.com',
  });
  owner = { id: created.ownerMemberId, account: created.ownerUserAccountId };
  db = database.of(created.workspaceId);
  for (const displayName of ['Grace Hopper', 'Twin', 'Twin', 'Ada@example.com'])
    await member(database, created.workspaceId, { displayName });
});
afterAll(() => end());

it('a member is found by e-mail address, name, id or account, in any case', async () => {
  const words = [
    'ADA@example.com',
    'ada',
    ' Ada ',
    encodeId('member', owner.id),
    encodeId('user', owner.account),
  ];
  for (const named of words) expect(await findMember(db, named)).toMatchObject({ id: owner.id });
  expect(await findMember(db, 'grace hopper')).toMatchObject({ displayName: 'Grace Hopper' });
  expect(await findOwner(db)).toMatchObject({ id: owner.id });
});

it('a name that several members have is refused', async () => {
  await expect(findMember(db, 'Twin')).rejects.toThrow(
    'Several members are called Twin; use an e-mail address or an id instead.',
  );
});

it('the error for an unknown member lists some existing ones', async () => {
  await expect(findMember(db, 'Bob')).rejects.toThrow(
    /^The workspace has no member Bob; there are Ada, .*Grace Hopper.*\.$/,
  );
});

it('the owner of a workspace is the first who may use tokens', async () => {
  const { database, drop } = await copyTemplate('migrated');
  const created = await createWorkspace(database, systemActor, { name: 'Acme', ownerDisplayName: 'Ada' });
  const ofWorkspace = database.of(created.workspaceId);
  await member(database, created.workspaceId, { displayName: 'Yan', role: 'owner' });
  await ofWorkspace
    .updateTable('member')
    .set({ status: 3 })
    .where('id', '=', created.ownerMemberId)
    .execute();
  expect(await findOwner(ofWorkspace)).toMatchObject({ displayName: 'Yan' });
  await ofWorkspace.updateTable('member').set({ status: 3 }).execute();
  await expect(findOwner(ofWorkspace)).rejects.toThrow('no active owner; choose a member with --member');
  await drop();
});
