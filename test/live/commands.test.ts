import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { changeOrigin } from '../../src/model/codes.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { bead, childOf, type ImportWorld, importWorld } from '../cli/import-world.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { changesOf, numberAllChanges, parentIdsOf } from './logged.ts';
import { recordUnmoved, unmovedChanges } from './unmoved-positions.ts';

let testDatabase: TestDatabase;
let world: ImportWorld;

beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
  await recordUnmoved(testDatabase.database);
  world = await importWorld(testDatabase.database, 'Events');
});
afterAll(async () => {
  world.remove();
  await testDatabase.drop();
});

const changesIn = (work: () => Promise<unknown>) => changesOf(testDatabase.database, world.workspaceId, work);

it('an import logs events for its issues, for the objects that it created, and for its end', async () => {
  world.write('a.jsonl', [
    bead('a', { labels: ['new'], assignee: 'Somebody New' }),
    bead('b', childOf('b', 'a')),
  ]);
  const changes = await changesIn(() => world.beads('a.jsonl'));
  expect(changes.map(({ eventType }) => eventType).sort()).toEqual([
    'import.finished.v1',
    'issue.created.v1',
    'issue.created.v1',
    'label.created.v1',
    'member.created.v1',
    'member.created.v1',
  ]);
  expect(new Set(changes.map(({ origin }) => origin))).toEqual(new Set([changeOrigin.import]));
  expect(await changesIn(() => world.beads('a.jsonl'))).toMatchObject([{ eventType: 'import.finished.v1' }]);
});

it('a second import logs an event for each issue that its source has changed, with the fields', async () => {
  world.write('b.jsonl', [bead('c'), bead('d')]);
  await world.beads('b.jsonl');
  world.write('b.jsonl', [bead('c', { title: 'Another title' }), bead('d')]);
  const changes = await changesIn(() => world.beads('b.jsonl'));
  expect(changes).toMatchObject([
    { eventType: 'issue.updated.v1', fields: ['title'], actorUserAccountId: null },
    { eventType: 'import.finished.v1' },
  ]);
  expect(changes[0]?.previous).toMatchObject({ title: expect.any(String) });
});

it('a directory file logs an event for each row that it creates or changes, and none if nothing differs', async () => {
  const file = (name: string) =>
    parseDirectory({
      workspace: 'Events',
      teams: [{ code: 'BD', name, labels: [{ name: 'Red' }] }],
    });
  const { workspaceId } = world;
  const apply = (name: string) =>
    applyDirectory(testDatabase.database, systemActor, file(name), { workspaceId });
  const changes = await changesIn(() => apply('Renamed'));
  expect(changes).toMatchObject([
    {
      eventType: 'team.updated.v1',
      fields: ['name'],
      previous: { name: 'Beads' },
      origin: changeOrigin.command,
    },
    { eventType: 'label.created.v1', fields: [], origin: changeOrigin.command },
  ]);
  expect(changes[0]?.teamId).toBe(changes[0]?.subjectId);
  expect(changes[1]?.teamId).toBe(changes[0]?.subjectId);
  expect(await changesIn(() => apply('Renamed'))).toEqual([]);
  const refused = parseDirectory({
    workspace: 'Events',
    teams: [{ code: 'BD', name: 'Again', lead: 'nobody@example.com' }],
  });
  const refusal = () => applyDirectory(testDatabase.database, systemActor, refused, { workspaceId });
  expect(await changesIn(() => expect(refusal()).rejects.toThrow('nobody@example.com'))).toEqual([]);
});

it('a directory file logs changes that name what their rows belong to', async () => {
  const file = (fields: object) =>
    parseDirectory({
      workspace: 'Events',
      labels: [{ name: 'Blue' }],
      members: [{ displayName: 'Grace' }],
      teams: [{ code: 'HW', name: 'Hardware', ...fields }],
      projects: [{ key: 'HW-CHIP', team: 'HW', name: 'Chip', ...fields }],
    });
  const { workspaceId } = world;
  const apply = (fields: object) =>
    applyDirectory(testDatabase.database, systemActor, file(fields), { workspaceId });
  const created = await changesIn(() => apply({}));
  const teamId = created.find(({ eventType }) => eventType === 'team.created.v1')?.subjectId;
  const added = await changesIn(() => apply({ members: ['Grace'] }));
  expect(added.map(({ eventType, fields }) => [eventType, fields])).toEqual([
    ['team.updated.v1', ['members', 'memberCount']],
    ['project.updated.v1', ['members']],
  ]);
  for (const change of [...created, ...added])
    expect(change).toMatchObject(parentIdsOf(change.eventType, teamId));
});

it('the log has no gaps after these commands', async () => {
  await numberAllChanges(testDatabase.database);
  expect(await brokenInvariants(testDatabase.database)).toEqual({});
});

it('no import or directory file changed what may be read without moving the position of the data', async () => {
  expect(await unmovedChanges(testDatabase.database)).toEqual([]);
});
