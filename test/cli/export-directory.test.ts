import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory, storedFields } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { exported, type ImportWorld, importWorld } from './import-world.ts';

let testDatabase: TestDatabase;
let world: ImportWorld;
const from = 'From';
beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
  world = await importWorld(testDatabase.database, from);
});
afterAll(async () => {
  world.remove();
  await testDatabase.drop();
});

it('an export shows every field that a directory file stores as it is', async () => {
  const label = { name: 'Whole', description: 'A label', color: '#111' };
  const status = {
    name: 'Begun',
    category: 'open',
    description: 'A status',
    color: '#222',
    position: 7,
  };
  const delivery = {
    name: 'First',
    description: 'A delivery',
    startsOn: '2026-02-01',
    endsOn: '2026-02-28',
    state: 'active',
  };
  const team = {
    name: 'Whole team',
    slug: 'whole',
    description: 'A team',
    iconCss: 'icon-team',
    color: '#333',
    state: 'archived',
    deliveriesEnabled: false,
  };
  const projectStatus = {
    name: 'Going',
    state: 'active',
    description: 'It goes',
    color: '#444',
    position: 8,
  };
  const project = {
    name: 'Whole project',
    summary: 'In short',
    description: 'At length',
    slug: 'whole-project',
    iconCss: 'icon-project',
    color: '#555',
    priority: 'urgent',
    startUtc: '2026-01-01T00:00:00.000Z',
    targetUtc: '2026-03-01T12:00:00.000Z',
  };
  for (const [table, entry] of Object.entries({ label, status, delivery, team, projectStatus, project }))
    expect([table, Object.keys(entry).toSorted()]).toEqual([
      table,
      Object.keys(storedFields[table as keyof typeof storedFields]).toSorted(),
    ]);
  const teamEntry = {
    code: 'ALL',
    ...team,
    statuses: [{ ...status, isInitial: true }],
    labels: [label],
    deliveries: [{ number: 1, ...delivery }],
  };
  const whole = {
    projectStatuses: [projectStatus],
    teams: [teamEntry],
    projects: [{ key: 'ALL', team: 'ALL', ...project, status: 'Going', labels: ['Whole'] }],
  };
  await applyDirectory(testDatabase.database, systemActor, parseDirectory({ workspace: from, ...whole }));
  const [{ directory } = {}] = await exported(world, from, 'ALL');
  expect(directory).toMatchObject({
    ...whole,
    projectStatuses: expect.arrayContaining([projectStatus]),
  });
});
